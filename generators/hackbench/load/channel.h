// The channels that messages travel over: a pipe, a pair of AF_UNIX stream sockets, or a TCP
// connection over 127.0.0.1, made with the system calls of rt-tests' hackbench in their order.
// Not for sending: the workers do that.
#pragma once

namespace krepro::hackbench_load {

enum class ChannelKind { pipe, unix_socket, inet };

/// Opens a channel: ends[0] is read from, ends[1] written to; both block. Ends the process with a
/// message where that fails.
void open_channel(ChannelKind kind, int ends[2]);

/// Bytes that a pipe can hold (it shrinks for unprivileged users past pipe-user-pages-soft), or a
/// socket's send buffer; -1 where the kernel does not tell.
int channel_capacity(ChannelKind kind, int write_end);

}  // namespace krepro::hackbench_load
