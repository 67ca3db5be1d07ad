package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jgit.internal.storage.file.FileRepository;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.Repository;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.BaseSubscriber;

class RawReadsTest {
    private static final int PLACES = 4;

    @TempDir
    Path folder;

    @Test
    void theNewestOfTheHeaviestGivesWay() {
        var reads = new RawReads(folder, 1 << 20, PLACES);
        List<RawReads.Read> hers = new ArrayList<>();
        List<Throwable> cut = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            RawReads.Read read = open(reads, "ada");
            hers.add(read);
            int number = i;
            read.cut().subscribe(any -> {}, error -> {
                assertThat(number).isEqualTo(PLACES - 1);
                cut.add(error);
            });
        }

        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> open(reads, "ada"))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.OVERLOADED))
                .satisfies(error -> assertThat(error.retryAfter()).isNotNull());
        RawReads.Read his = open(reads, "bob");

        assertThat(cut).singleElement()
                .satisfies(error -> assertThat(((HandlerException) error).reason())
                        .isEqualTo(Reason.OVERLOADED));
        assertThat(reads.open()).isEqualTo(PLACES);
        his.close();
        hers.forEach(RawReads.Read::close);
        hers.forEach(RawReads.Read::close);
        assertThat(reads.open()).isZero();
    }

    /** What is cut while a caller reads frees its copy at once, and the caller sees no whole file. */
    @Test
    void aCopyGoesWithItsRead() throws IOException {
        var reads = new RawReads(folder, 1 << 20, 2);
        try (Repository objects = repository(); RawReads.Read older = open(reads, "ada")) {
            ObjectId blob = inserted(objects, new byte[100_000]);
            RawReads.Read read = open(reads, "ada");
            assertThat(read.receive(objects, blob)).isEqualTo(100_000);
            var body = new Reading();
            read.parts().subscribe(body);
            var hold = new Reading();
            read.answered().subscribe(hold);
            body.request(1);
            read.unlessAnswered();

            assertThat(copies()).isEmpty();
            assertThat(body.bytes).isPositive().isLessThan(100_000);
            assertThat(reads.open()).isEqualTo(2);
            open(reads, "bob").close();

            assertThat(hold.failure).isInstanceOf(HandlerException.class);
            body.request(10);
            assertThat(body.bytes).isLessThan(100_000);
            assertThat(reads.open()).isOne();
            assertThat(older.knows(blob)).isFalse();
        }
    }

    @Test
    void whatEndedReceivesNothing() throws IOException {
        var reads = new RawReads(folder, 1 << 20, 1);
        try (Repository objects = repository()) {
            ObjectId blob = inserted(objects, new byte[10]);
            RawReads.Read read = open(reads, "ada");
            read.unlessAnswered();

            assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> read.receive(objects, blob));
            assertThat(reads.open()).isZero();
        }
    }

    @Test
    void largerFilesThanTheBoundAreRefused() throws IOException {
        var reads = new RawReads(folder, 10, 1);
        try (Repository objects = repository(); RawReads.Read read = open(reads, "ada")) {
            ObjectId larger = inserted(objects, new byte[11]);
            ObjectId largest = inserted(objects, new byte[10]);

            assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> read.receive(objects, larger))
                    .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.BODY_TOO_LARGE))
                    .withMessageContaining("maxRawBytes");
            assertThat(read.receive(objects, largest)).isEqualTo(10);
        }
    }

    private static RawReads.Read open(RawReads reads, String account) {
        return reads.open(account, revision -> false, true);
    }

    private List<Path> copies() throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith("raw")).toList();
        }
    }

    private Repository repository() throws IOException {
        Repository made = new FileRepository(folder.resolve("objects").toFile());
        made.create(true);
        return made;
    }

    private static ObjectId inserted(Repository objects, byte[] content) throws IOException {
        try (ObjectInserter inserter = objects.newObjectInserter()) {
            ObjectId id = inserter.insert(Constants.OBJ_BLOB, content);
            inserter.flush();
            return id;
        }
    }

    /** Takes what it demands, by hand. */
    private static final class Reading extends BaseSubscriber<Object> {
        private int bytes;
        private @Nullable Throwable failure;

        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
            // demands by request
        }

        @Override
        protected void hookOnNext(Object part) {
            if (part instanceof ByteBuf buffer) {
                bytes += buffer.readableBytes();
                buffer.release();
            }
        }

        @Override
        protected void hookOnError(Throwable error) {
            failure = error;
        }
    }
}
