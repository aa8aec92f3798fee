"""`ms2torch weights`: checkpoints between Hugging Face, MindFormers and MindSpore.

Only this command needs torch and safetensors; nothing here is imported before it is asked for.
"""
