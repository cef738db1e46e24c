#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# xdpsock in every mode, on a veth pair: packets per second, and whether each
# frame arrived as it was sent, or was counted as dropped. Runs in the VM.
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=tools/run/lib.sh
. tools/run/lib.sh

seconds=3
sizes=(64 1500)
tests=(rxdrop txpush l2fwd)
peer=-S			# how the other end is run: it works everywhere
failed=0

if [[ ! -x $xdpsock ]]; then
	echo "$xdpsock is missing: 'make run' builds it" >&2
	exit 1
fi

results=$(mktemp -d)
trap 'remove_link; rm -rf "$results"' EXIT
near=$results/near
far=$results/far

# dropped END DIRECTION: what the interface counted.
dropped() {
	ip netns exec "$1" cat "/sys/class/net/$1/statistics/$2_dropped"
}

# In the driver a packet that the socket refuses is the interface's as well.
dropped_by_socket() {
	if [[ $(field "$1" start xdp) == skb ]]; then
		echo $(($(field "$1" '*' rx_dropped) + $(field "$1" '*' rx_ring_full)))
	else
		echo 0
	fi
}

# lost FROM TO: packets of that direction that nobody accounts for (yet).
lost() {
	local sent=$results/$1 received=$results/$2

	echo $(($(field "$sent" '*' tx_packets) - $(field "$received" '*' rx_packets) -
		$(dropped "$1" tx) - $(dropped "$2" rx) - $(dropped_by_socket "$received")))
}

# faults FILE: what is wrong with the frames that came in there.
faults() {
	local name

	for name in corrupt foreign late; do
		if (($(field "$1" total $name))); then
			echo "$(field "$1" total $name) $name"
		fi
	done
	if (($(field "$1" total good) == 0)); then
		echo "nothing received"
	fi
	if (($(field "$1" total tx_frames) != $(field "$1" total tx_completed))); then
		echo "frames not completed"
	fi
}

verdict() {
	local faults

	faults=$("$@")
	if [[ $faults ]]; then
		echo "NO: ${faults//$'\n'/, }"
	else
		echo yes
	fi
}

stream_faults() {
	faults "$near"
	if (($(lost far near))); then
		echo "$(lost far near) unaccounted for"
	fi
}

forward_faults() {
	faults "$near"
	faults "$far"
	if (($(lost far near))); then
		echo "$(lost far near) unaccounted for on the way out"
	fi
	if (($(lost near far))); then
		echo "$(lost near far) unaccounted for on the way back"
	fi
}

all_accounted() {
	[[ $(lost far near) == 0 ]] && { [[ $1 == stream ]] || [[ $(lost near far) == 0 ]]; }
}

# run_pair stream|echo SIZE OPTIONS-OF-GENERATOR OPTIONS-OF-RECEIVER
run_pair() {
	local path=$1 size=$2 generator receiver generator_pid receiver_pid
	read -ra generator <<<"$3"
	read -ra receiver <<<"$4"

	make_link 1
	start near "$near" --verify "${receiver[@]}"
	receiver_pid=$pid
	start far "$far" -t -s "$size" -d $seconds "${generator[@]}"
	generator_pid=$pid

	# What the two found wrong is in their figures, see verdict().
	until_true record "$far" stop
	until_true all_accounted "$path" || true
	stop "$generator_pid" || true
	stop "$receiver_pid" || true
}

# per_second FILE NAME
per_second() {
	awk -v "packets=$(field "$1" total "$2")" -v "seconds=$(field "$far" total seconds)" \
		'BEGIN { printf "%.0f", packets / seconds }'
}

row() {
	local result

	printf '%12s %10s %10s %10s  ' "$1" "$2" "$3" "$(($2 - $3))"
	result=$(verdict "$4")
	echo "$result"
	if [[ $result != yes ]]; then
		failed=$((failed + 1))
	fi
}

rxdrop() {
	run_pair stream "$1" "$peer" "-r $2"
	row "$(per_second "$near" rx_packets)" "$(field "$far" total tx_packets)" \
		"$(field "$near" total good)" stream_faults
}

txpush() {
	run_pair stream "$1" "$2" "-r $peer"
	row "$(per_second "$far" tx_packets)" "$(field "$far" total tx_packets)" \
		"$(field "$near" total good)" stream_faults
}

l2fwd() {
	run_pair echo "$1" "$peer --verify" "-l $2"
	row "$(per_second "$near" tx_packets)" "$(field "$far" total tx_packets)" \
		"$(field "$far" total good)" forward_faults
}

run_all() {
	local name options size test

	while read -r name options; do
		for size in "${sizes[@]}"; do
			for test in "${tests[@]}"; do
				printf '%-8s %-10s %5s ' "$test" "$name" "$size"
				"$test" "$size" "$options" </dev/null
			done
		done
	done < <(grep -v '^#' tools/run/modes)
}

echo "xdpsock on a veth pair, Linux $(uname -r), $(nproc) CPUs, $seconds s each"
echo "(drops are no fault: a generator does not wait; each one must be counted)"
printf '%-8s %-10s %5s %12s %10s %10s %10s  %s\n' \
	test mode bytes packets/s sent received dropped verified
run_all
if ((failed)); then
	echo "$failed rows failed; 'make shell' gives a shell in the VM to look closer" >&2
	exit 1
fi
echo "every frame was verified or counted as dropped"
