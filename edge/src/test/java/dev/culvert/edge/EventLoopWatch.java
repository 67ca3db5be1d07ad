package dev.culvert.edge;

import reactor.blockhound.BlockHound;

/** Makes a blocking call on an event loop fail its test. Other threads of Reactor's own are left alone. */
final class EventLoopWatch {
    private EventLoopWatch() {}

    static void install() {
        BlockHound.builder()
                .nonBlockingThreadPredicate(other -> thread -> thread.getName().startsWith("culvert-"))
                .allowBlockingCallsInside("ch.qos.logback.classic.Logger", "callAppenders")
                .allowBlockingCallsInside("io.netty.util.concurrent.SingleThreadEventExecutor", "takeTask")
                // Handing a task to a pool takes its locks for an insertion; Reactor allows that itself.
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor", "schedule")
                .allowBlockingCallsInside(
                        "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", "cancel")
                .install();
    }
}
