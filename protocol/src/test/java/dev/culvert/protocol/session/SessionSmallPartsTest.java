package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §12: what waits for a window or a socket costs its bytes, however small the parts are. */
final class SessionSmallPartsTest {
    private static List<ByteBuf> singleBytes(SessionPair pair, int id, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> pair.client.log(id).next(pair.allocator, Session.Role.CLIENT, 1))
                .toList();
    }

    private static long kept(List<ByteBuf> parts) {
        return parts.stream().filter(part -> part.refCnt() > 0).count();
    }

    @Test
    void singleBytesThatWaitForTheSocketMerge() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 200, false);
            pair.drive();
            pair.client.out.block(true);
            List<ByteBuf> parts = singleBytes(pair, id, 100_000);

            parts.forEach(part -> pair.client.session.data(id, part));

            assertThat(kept(parts)).isLessThan(5);
            pair.client.session.end(id, null);
            pair.client.out.block(false);
            pair.drive();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(100_000);
        }
    }
}
