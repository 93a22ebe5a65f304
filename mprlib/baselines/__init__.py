"""Methods that the paper compares with, one file each; none of them bounds MPR."""
