package dev.culvert.relay.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.blockhound.BlockingOperationError;

/** What counts as blocking an event loop. */
class EventLoopWatchTest {
    @BeforeAll
    static void install() {
        EventLoopWatch.install();
    }

    @Test
    void aWaitIsABlockingCall() {
        FutureTask<?> waiting = onLoop(() -> new CountDownLatch(1).await(1, TimeUnit.MINUTES));

        assertThatThrownBy(waiting::get).isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(BlockingOperationError.class);
    }

    /** A thread that takes from the queue may hold its lock at that moment. */
    @ParameterizedTest
    @ValueSource(classes = {LinkedBlockingQueue.class, ArrayBlockingQueue.class})
    void anOfferToAQueueIsNone(Class<?> type) throws Exception {
        BlockingQueue<Object> queue = type == ArrayBlockingQueue.class
                ? new ArrayBlockingQueue<>(9)
                : new LinkedBlockingQueue<>();
        queue.add("first");
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch unlock = new CountDownLatch(1);
        FutureTask<Boolean> taking = new FutureTask<>(() -> queue.contains(new HoldsTheLock(locked, unlock)));
        Thread.ofPlatform().start(taking);
        locked.await();
        FutureTask<Boolean> offering = new FutureTask<>(() -> queue.offer("second"));
        Thread loop = new FastThreadLocalThread(offering, "culvert-99-1");
        loop.start();
        while (loop.getState() != Thread.State.WAITING && loop.isAlive()) {
            Thread.onSpinWait();
        }
        unlock.countDown();

        assertThat(offering.get()).isTrue();
        assertThat(taking.get()).isFalse();
    }

    private static FutureTask<?> onLoop(Callable<?> call) {
        FutureTask<?> task = new FutureTask<>(call);
        new FastThreadLocalThread(task, "culvert-99-2").start();
        return task;
    }

    /** Queues compare under their lock. */
    private record HoldsTheLock(CountDownLatch locked, CountDownLatch unlock) {
        @Override
        public boolean equals(Object other) {
            locked.countDown();
            try {
                unlock.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return false;
        }

        @Override
        public int hashCode() {
            return 0;
        }
    }
}
