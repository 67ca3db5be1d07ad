package dev.culvert.server;

import reactor.blockhound.BlockHound;

/** Makes a blocking call on an event loop fail its test. The store's and the enrolment's own threads may block. */
final class EventLoopWatch {
    private EventLoopWatch() {}

    static void install() {
        BlockHound.builder()
                .nonBlockingThreadPredicate(other -> thread -> thread.getName().matches("culvert-\\d+-\\d+"))
                .allowBlockingCallsInside("ch.qos.logback.classic.Logger", "callAppenders")
                .allowBlockingCallsInside("io.netty.util.concurrent.SingleThreadEventExecutor", "takeTask")
                .install();
    }
}
