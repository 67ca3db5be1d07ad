package dev.culvert.relay.testing;

import reactor.blockhound.BlockHound;
import reactor.core.scheduler.ReactorBlockHoundIntegration;

/** Makes a blocking call on an event loop fail its test. Other threads, Reactor's own too, are left alone. */
public final class EventLoopWatch {
    private EventLoopWatch() {}

    public static void install() {
        BlockHound.builder()
                .with(new ReactorBlockHoundIntegration())
                .nonBlockingThreadPredicate(other -> thread -> thread.getName().matches("culvert-\\d+-\\d+"))
                .allowBlockingCallsInside("ch.qos.logback.classic.Logger", "callAppenders")
                .allowBlockingCallsInside("io.netty.util.concurrent.SingleThreadEventExecutor", "takeTask")
                // The last moments of a loop that ends.
                .allowBlockingCallsInside("io.netty.util.concurrent.SingleThreadEventExecutor",
                        "confirmShutdown")
                // Where futures of channel groups are completed; its queue's locks are held as shortly as the next.
                .allowBlockingCallsInside("io.netty.util.concurrent.GlobalEventExecutor", "addTask")
                // The allocator's locks are held for the time of a few instructions.
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator", "allocate")
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator$AdaptiveByteBuf",
                        "deallocate")
                // The kernel's random source never blocks once the machine is up.
                .allowBlockingCallsInside("java.security.SecureRandom", "nextBytes")
                // To hand work to a pool takes its queue's lock for a few instructions, and may start a thread.
                .allowBlockingCallsInside("java.util.concurrent.ThreadPoolExecutor", "execute")
                .allowBlockingCallsInside("java.util.concurrent.ThreadPoolExecutor", "remove")
                // An offer never waits for room, and holds the queue's lock for a few instructions.
                .allowBlockingCallsInside("java.util.concurrent.LinkedBlockingQueue", "offer")
                .allowBlockingCallsInside("java.util.concurrent.ArrayBlockingQueue", "offer")
                // To drop a timer takes its pool's lock as long as to set one, which Reactor's own list allows.
                .allowBlockingCallsInside(
                        "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", "cancel")
                .install();
    }
}
