# The base kernel. Read by make and by shell scripts, so: NAME=value, nothing else.
BASE_PACKAGE=linux-source-6.12
BASE_VERSION=6.12.117-1~deb12u1
BASE_TARBALL=/usr/src/linux-source-6.12.tar.xz
