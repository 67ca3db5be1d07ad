package dev.culvert.protocol.body;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BodyQueueTest {
    private final BodyQueue queue = new BodyQueue();
    private final List<ByteBuf> given = new ArrayList<>();

    @AfterEach
    void everyBufferIsReleased() {
        queue.clear();
        assertThat(given).allSatisfy(part -> assertThat(part.refCnt()).isZero());
    }

    private ByteBuf part(byte... bytes) {
        ByteBuf part = Unpooled.buffer(Math.max(1, bytes.length)).writeBytes(bytes);
        given.add(part);
        return part;
    }

    private byte[] drain() {
        var all = new ByteArrayOutputStream();
        for (ByteBuf part = queue.poll(); part != null; part = queue.poll()) {
            all.writeBytes(ByteBufUtil.getBytes(part));
            part.release();
        }
        return all.toByteArray();
    }

    @Test
    void manySingleBytesAreFewBuffers() {
        for (int i = 0; i < 1 << 16; i++) {
            queue.add(Unpooled.buffer(1).writeByte(i));
        }

        assertThat(queue.size()).isLessThan(6);
        assertThat(drain()).hasSize(1 << 16).startsWith(0, 1, 2, 3).endsWith(0xfd, 0xfe, 0xff);
    }

    @Test
    void theFirstPartIsNotCopied() {
        ByteBuf first = part((byte) 1);
        queue.add(first);

        assertThat(queue.peek()).isSameAs(first);
    }

    @Test
    void anyPartsComeOutInOrder() {
        Random random = new Random(11);
        byte[] sent = new byte[300_000];
        random.nextBytes(sent);
        int at = 0;
        while (at < sent.length) {
            int size = Math.min(sent.length - at, random.nextInt(random.nextBoolean() ? 20 : 3_000));
            queue.add(part(Arrays.copyOfRange(sent, at, at + size)));
            at += size;
        }

        assertThat(queue.size()).isLessThan(2 + 2 * sent.length / BodyQueue.SMALL);
        assertThat(drain()).isEqualTo(sent);
    }

    @Test
    void partsThatAreReadInBetweenComeOutOnce() {
        queue.add(part((byte) 'a'));
        queue.add(part((byte) 'b'));
        assertThat(new String(drain(), StandardCharsets.US_ASCII)).isEqualTo("ab");
        queue.add(part((byte) 'c'));
        queue.add(part((byte) 'd'));

        assertThat(new String(drain(), StandardCharsets.US_ASCII)).isEqualTo("cd");
    }

    @Test
    void aSliceOfTheFirstPartDoesNotMove() {
        queue.add(part((byte) 'a'));
        queue.add(part((byte) 'b', (byte) 'c'));
        Objects.requireNonNull(queue.poll()).release();
        ByteBuf first = Objects.requireNonNull(queue.peek());
        ByteBuf slice = first.readRetainedSlice(1);
        int room = first.capacity();

        for (int i = 0; i < 1000; i++) {
            queue.add(part((byte) 'd'));
        }

        assertThat(first.capacity()).isEqualTo(room);
        assertThat(slice.toString(StandardCharsets.US_ASCII)).isEqualTo("b");
        slice.release();
        assertThat(drain()).hasSize(1001);
    }

    @Test
    void whatWasSharedDoesNotChange() {
        queue.add(part((byte) 'a'));
        queue.add(part((byte) 'b'));
        List<ByteBuf> shared = new ArrayList<>();
        queue.share(part -> shared.add(part.retainedDuplicate()));

        queue.add(part((byte) 'c'));

        assertThat(shared).extracting(part -> part.toString(StandardCharsets.US_ASCII))
                .containsExactly("a", "b");
        assertThat(queue.size()).isEqualTo(3);
        shared.forEach(ByteBuf::release);
    }
}
