# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A link of two network namespaces for xdpsock, and what its JSON says.

xdpsock=$PWD/build/samples/xdpsock

# The two ends: namespace and interface are both called near or far.
in_near() { ip netns exec near "$@"; }
in_far() { ip netns exec far "$@"; }

make_ends() {
	local end

	for end in near far; do
		ip netns add "$end"
		ip netns exec "$end" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	done
}

# make_link QUEUES: anew, with counters at zero and nobody else's packets.
make_link() {
	local queues="numrxqueues $1 numtxqueues $1"

	[[ -e /run/netns/far ]] || make_ends
	ip -n near link del near 2>/dev/null || true
	ip -n near -batch - <<-EOF
		link add near $queues type veth peer name far netns far $queues
		addr add 192.0.2.1/24 dev near
		link set near up
	EOF
	ip -n far -batch - <<-EOF
		addr add 192.0.2.2/24 dev far
		link set far up
	EOF
}

remove_link() {
	ip netns del near 2>/dev/null || true
	ip netns del far 2>/dev/null || true
}

# until_true COMMAND...: a machine may be slow, but not for a minute.
until_true() {
	local deadline=$((SECONDS + 60))

	while ((SECONDS < deadline)); do
		if "$@"; then
			return 0
		fi
		sleep 0.1
	done
	echo "waited in vain for: $*" >&2
	return 1
}

# record FILE EVENT: sets $record to the last one of that kind; '*' is any kind.
# No programs are started here, an emulated machine takes its time for that.
record() {
	local line

	record=
	while read -r line; do
		# shellcheck disable=SC2053	# a pattern
		if [[ $line == \{\"event\":\"$2\"*\} ]]; then
			record=$line
		fi
	done <"$1"
	[[ $record ]]
}

# field FILE EVENT NAME
field() {
	record "$1" "$2" && [[ $record =~ \"$3\":\"?([^],}\"]*) ]] && echo "${BASH_REMATCH[1]}"
}

# start END FILE OPTION...: xdpsock in the background, as $pid, once it is ready.
# Each end has a CPU of its own, as far as there are two.
start() {
	local end=$1 file=$2 cpu=0
	shift 2

	if [[ $end == far ]]; then
		cpu=$(($(nproc) - 1))
	fi
	: >"$file"
	taskset -c "$cpu" ip netns exec "$end" "$xdpsock" -j -i "$end" "$@" >"$file" &
	# shellcheck disable=SC2034	# the caller's
	pid=$!
	until_true record "$file" start
}

is_gone() {
	! kill -0 "$1" 2>/dev/null
}

# ended PID: waits for it, and gives its exit status.
ended() {
	until_true is_gone "$1"
	wait "$1"
}

# stop PID: as ^C does, unless it ended. Gives the exit status of xdpsock.
stop() {
	kill -INT "$1" 2>/dev/null || true
	ended "$1"
}
