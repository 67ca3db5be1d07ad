package dev.culvert.relay.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.slf4j.LoggerFactory;

/** What must be zero when everything is over. */
public final class Leaks {
    private static final ListAppender<ILoggingEvent> REPORTS = new ListAppender<>();

    static {
        REPORTS.start();
        ((Logger) LoggerFactory.getLogger(ResourceLeakDetector.class)).addAppender(REPORTS);
    }

    private Leaks() {}

    /** Starts to listen; before the first buffer is made. */
    public static void watch() {
        assertThat(ResourceLeakDetector.getLevel()).isEqualTo(ResourceLeakDetector.Level.PARANOID);
    }

    public static void assertNone(LongSupplier bufferedBytes, IntSupplier connections) {
        await().untilAsserted(() -> {
            assertThat(bufferedBytes.getAsLong()).as("buffered bytes").isZero();
            assertThat(connections.getAsInt()).as("open connections").isZero();
        });
        System.gc();
        ByteBufAllocator.DEFAULT.buffer(1).release(); // reports what the collector found
        List<ILoggingEvent> reports = List.copyOf(REPORTS.list);
        REPORTS.list.clear();
        assertThat(reports).as("leaked buffers").isEmpty();
    }
}
