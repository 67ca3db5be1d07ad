package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.fields.Spellings;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/protocol.md §5.2. */
class SessionSpellingTest {
    private static final long BOTH = Hello.SLOTS | Hello.SPELLING;
    private static final AsciiString NAME = AsciiString.of("x-custom-id");

    private static SessionPair pair(long server, long client) {
        var pair = new SessionPair(hello(server), hello(client));
        pair.drive();
        return pair;
    }

    private static Hello hello(long capabilities) {
        Hello plain = SessionPair.hello(1, 1, SessionLimits.defaults().accepts());
        return new Hello(1, 1, capabilities, 7, 8, 0, true, plain.limits(), plain.nonce(), "culvert test");
    }

    private static HeadFields spelled(Http2Headers head, int more) {
        var fields = new HeadFields(4);
        fields.add(head);
        fields.add(NAME, "1");
        for (int i = 0; i < more; i++) {
            fields.add("n" + i, "v".repeat(500));
        }
        fields.spell(AsciiString.of("X-Custom-ID"));
        return fields;
    }

    /** The spelling of the last head or trailers that came; {@code -} for the canonical one. */
    private static String last(Side side) {
        String last = "";
        for (SessionEvent event : side.events) {
            Http2Headers head = switch (event) {
                case SessionEvent.Opened opened -> opened.head();
                case SessionEvent.ResponseHead response -> response.head();
                case SessionEvent.Trailers trailers -> trailers.trailers();
                default -> null;
            };
            if (head != null) {
                assertThat(head.get(NAME)).hasToString("1");
                Spellings spellings = head instanceof HeadFields own ? own.spellings() : null;
                last = String.valueOf(spellings == null ? "-" : spellings.of(NAME));
            }
        }
        return last;
    }

    @Test
    void everyHeadBringsItsSpelling() {
        try (SessionPair pair = pair(BOTH, BOTH)) {
            int id = pair.server.open(spelled(Side.request("/"), 100), true);
            pair.drive();
            assertThat(last(pair.client)).isEqualTo("X-Custom-ID");
            for (int status : new int[]{103, 200}) {
                pair.client.session.respond(id, spelled(Side.response(status), 0), HeadOptions.NONE,
                        status == 103, false);
                pair.drive();
                assertThat(last(pair.server)).isEqualTo("X-Custom-ID");
            }
            pair.server.events.clear();
            pair.client.session.end(id, spelled(new HeadFields(0), 0));
            pair.drive();
            assertThat(last(pair.server)).isEqualTo("X-Custom-ID");
        }
    }

    /** Of an older version, or with HPACK, which keeps no order to count by. */
    @ParameterizedTest
    @ValueSource(longs = {Hello.SLOTS, Hello.SPELLING, 0})
    void aPeerThatLacksItGetsNone(long capabilities) {
        for (boolean server : new boolean[]{true, false}) {
            try (SessionPair pair = pair(server ? BOTH : capabilities, server ? capabilities : BOTH)) {
                List<Frame> frames = RawHeads.frames(pair.server);
                pair.server.open(spelled(Side.request("/"), 0), true);
                pair.drive();
                assertThat(last(pair.client)).isEqualTo("-");
                assertThat(frames).anySatisfy(frame -> assertThat(
                        frame instanceof Frame.Head head && head.options().spelling() == null).isTrue());
            }
        }
    }

    @Test
    void aCanonicalHeadBringsNoOption() {
        try (SessionPair pair = pair(BOTH, BOTH)) {
            List<Frame> frames = RawHeads.frames(pair.server);
            var head = new HeadFields(4);
            head.add(Side.request("/")).add(NAME, "1");
            pair.server.open(head, true);
            pair.drive();
            assertThat(((Frame.Head) frames.getFirst()).options()).isEqualTo(HeadOptions.NONE);
            assertThat(last(pair.client)).isEqualTo("-");
        }
    }

    /** A note that is no note, and one of a side that has not said that it sends some. */
    @ParameterizedTest
    @ValueSource(longs = {BOTH, Hello.SLOTS})
    void aHostileNoteLeavesTheHeadAsItIs(long server) {
        try (SessionPair pair = pair(server, BOTH)) {
            List<AsciiString> notes = new ArrayList<>(
                    List.of(AsciiString.of("\u0000\u0080"), AsciiString.of("\u00ff")));
            if (server != BOTH) {
                notes.add(AsciiString.EMPTY_STRING);
            }
            var encoder = new SlotEncoder(Set.of(), 4096);
            int id = 1;
            for (AsciiString note : notes) {
                var block = pair.allocator.heapBuffer();
                encoder.encode(Side.request("/").add(NAME, "1"), block);
                pair.client.session.handle(new Frame.Head(id++,
                        FrameCodec.HEAD_OPENS | FrameCodec.END | FrameCodec.HEAD_LAST, StreamKind.HTTP,
                        HeadOptions.NONE.withSpelling(note), block), pair.nowNanos);
                pair.client.drainEvents();
                assertThat(last(pair.client)).isEqualTo("-");
            }
            assertThat(pair.client.session.isLive()).isTrue();
        }
    }
}
