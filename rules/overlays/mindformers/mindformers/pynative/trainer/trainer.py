"""One card is the special case world size 1 of many: the same meshes, groups and collectives."""

# ms2torch: precedes Trainer.__init__, written for 53275bea4570 a0d15036ba49 215d90219659
enable_parallel = property(lambda self: True, lambda self, value: None, doc="Always: also for a world of one.")
