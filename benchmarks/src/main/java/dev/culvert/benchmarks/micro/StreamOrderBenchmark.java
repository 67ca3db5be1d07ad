package dev.culvert.benchmarks.micro;

import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures what a frame of a stream costs by the number of streams that have frames at the same time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StreamOrderBenchmark {
    private static final int FRAMES = 1000;
    private static final int WAITING = 100;
    private static final int PART = 1 << 10;

    /** The streams that have frames. */
    @Param({"1", "10", "100", "1000"})
    public int streams;

    private SessionLink link = new SessionLink(0);
    private final ByteBuf part = PooledByteBufAllocator.DEFAULT.directBuffer(PART).writeZero(PART);
    private int[] ids = {};

    /** Opens uploads that never end. */
    @Setup
    public void open() {
        link = new SessionLink(Hello.SLOTS);
        ids = new int[streams];
        for (int i = 0; i < streams; i++) {
            var head = new HeadFields(4);
            head.method("POST").scheme("https").authority("acme-prod.example.com").path("/upload");
            ids[i] = link.server.open(StreamKind.HTTP, head, HeadOptions.NONE, false);
        }
        SessionLink.carry(link.server, link.client);
        SessionLink.drop(link.client);
    }

    /** Releases the body. */
    @TearDown
    public void close() {
        part.release();
    }

    /** A frame of 1 KiB, from its queue to its reader. A hundred of them wait at a time. */
    @Benchmark
    @OperationsPerInvocation(FRAMES)
    public int frame() {
        int bytes = 0;
        for (int i = 1; i <= FRAMES; i++) {
            link.server.data(ids[i % streams], part.retainedDuplicate());
            if (i % WAITING == 0) {
                SessionLink.carry(link.server, link.client);
                bytes += SessionLink.drop(link.client);
                SessionLink.carry(link.client, link.server);
                SessionLink.drop(link.server);
            }
        }
        return bytes;
    }
}
