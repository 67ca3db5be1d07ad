package dev.culvert.relay.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A caller that sends a case of the corpus as frames of HTTP/2, then a GET on stream 99, and tells what was answered. Its
 * fields are literals without index and Huffman code (RFC 7541 §6.2.2), so that any octet can stand in them. Blocking.
 */
public final class CorpusHttp2 implements AutoCloseable {
    private static final int LAST_STREAM = 99;
    private static final int HEADERS = 1;
    private static final int PING = 6;
    private static final int CONTINUATION = 9;
    private static final int END_HEADERS = 4;
    private static final int FRAME_HEAD = 9;
    private static final int MAX_FRAME = 16 << 10;

    private final TlsCaller socket;
    private final String host;
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private final Map<Integer, String> statuses = new HashMap<>();
    private final Map<Integer, String> bodies = new HashMap<>();
    private final Set<Integer> unanswered = new HashSet<>();

    public CorpusHttp2(int port, String host) {
        this.host = host;
        socket = new TlsCaller(port, null, "h2");
        socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        frame(4, 0, 0, Unpooled.EMPTY_BUFFER);
    }

    /** Sends {@code head}, {@code data} and {@code frame} lines; the fields of a head stand behind it, indented. */
    void send(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            String[] words = lines.get(i).split(" ", 4);
            switch (words[0]) {
                case "head" -> {
                    ByteBuf block = Unpooled.buffer();
                    while (i + 1 < lines.size() && lines.get(i + 1).startsWith("  ")) {
                        i++;
                        field(block, lines.get(i).substring(2).replace("{host}", host));
                    }
                    head(Integer.parseInt(words[1]), ended(words), block);
                }
                case "data" -> frame(0, ended(words), Integer.parseInt(words[1]),
                        latin(CorpusCase.text(words.length > 3 ? words[3] : "")));
                case "frame" -> {
                    String[] parts = lines.get(i).split(" ", 5);
                    frame(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), Integer.parseInt(parts[3]),
                            latin(CorpusCase.text(parts.length > 4 ? parts[4] : "")));
                }
                default -> throw new IllegalStateException(lines.get(i));
            }
        }
        ByteBuf block = Unpooled.buffer();
        for (String field : List.of(":method = GET", ":scheme = https", ":authority = " + host,
                ":path = " + CorpusRun.BEHIND)) {
            field(block, field);
        }
        head(LAST_STREAM, 1, block);
    }

    private static int ended(String[] words) {
        return words.length > 2 && words[2].equals("end") ? 1 : 0;
    }

    private static void field(ByteBuf block, String field) {
        int equals = field.indexOf(" =");
        ByteBuf name = latin(CorpusCase.text(field.substring(0, equals)));
        ByteBuf value = latin(CorpusCase.text(field.substring(Math.min(equals + 3, field.length()))));
        block.writeByte(0);
        string(block, name);
        string(block, value);
    }

    /** RFC 7541 §5.1, §5.2. */
    private static void string(ByteBuf block, ByteBuf text) {
        int rest = text.readableBytes() - 127;
        if (rest < 0) {
            block.writeByte(text.readableBytes());
        } else {
            block.writeByte(127);
            for (; rest >= 128; rest /= 128) {
                block.writeByte(rest % 128 + 128);
            }
            block.writeByte(rest);
        }
        block.writeBytes(text);
    }

    private void head(int stream, int ended, ByteBuf block) {
        unanswered.add(stream);
        int type = HEADERS;
        int flags = ended;
        do {
            ByteBuf part = block.readSlice(Math.min(MAX_FRAME, block.readableBytes()));
            frame(type, flags | (block.isReadable() ? 0 : END_HEADERS), stream, part);
            type = CONTINUATION;
            flags = 0;
        } while (block.isReadable());
    }

    private static ByteBuf latin(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
    }

    private void frame(int type, int flags, int stream, ByteBuf payload) {
        socket.send(ByteBufUtil.getBytes(Unpooled.buffer()
                .writeMedium(payload.readableBytes())
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload)));
    }

    /**
     * Reads until all streams are answered and all that was caused is told, or the connection refused. Sorted: streams
     * are answered in any order.
     */
    List<String> answers() {
        List<String> answers = new ArrayList<>();
        while (true) {
            ByteBuf frame = latin(socket.read(FRAME_HEAD));
            int length = frame.readUnsignedMedium();
            int type = frame.readUnsignedByte();
            int flags = frame.readUnsignedByte();
            int stream = frame.readInt();
            String payload = socket.read(length);
            if (type == HEADERS) {
                statuses.put(stream, status(stream, payload));
            } else if (type == 0) {
                bodies.merge(stream, payload, String::concat);
            }
            boolean ended = type <= HEADERS && (flags & 1) != 0;
            if (ended) {
                answers.add(Answers.answer(statuses.getOrDefault(stream, "no head"),
                        bodies.getOrDefault(stream, "")));
            } else if (type == 3 && !isStop(payload)) {
                answers.add("reset " + error(payload, 0));
            } else if (type == 7) {
                answers.add("goaway " + error(payload, 4));
            }
            if ((ended || type == 3) && unanswered.remove(stream) && unanswered.isEmpty()) {
                frame(PING, 0, 0, latin("whatever"));
            }
            if (type == 7 || (type == PING && flags == 1)) {
                return answers.stream().sorted().toList();
            }
        }
    }

    /** RFC 9113 §8.1: NO_ERROR behind a complete response is no error. */
    private static boolean isStop(String payload) {
        return error(payload, 0).equals("NO_ERROR");
    }

    private static String error(String payload, int at) {
        return String.valueOf(Http2Error.valueOf(latin(payload).getInt(at)));
    }

    private String status(int stream, String block) {
        try {
            return decoder.decodeHeaders(stream, latin(block)).status().toString();
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
