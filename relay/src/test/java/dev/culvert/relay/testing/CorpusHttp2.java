package dev.culvert.relay.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A caller that sends a case of the corpus as frames of HTTP/2, then a GET on a stream of its own, and tells what was
 * answered. Its fields are literals without index and Huffman code (RFC 7541 §6.2.2), so that any octet can stand in them.
 * Blocking.
 */
public final class CorpusHttp2 implements AutoCloseable {
    /** The stream of the GET behind a case, unless the case opens so many that it has a later one. */
    private static final int LAST_STREAM = 99;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int GOAWAY = 7;
    private static final int PING = 6;
    private static final int CONTINUATION = 9;
    private static final int END_HEADERS = 4;
    private static final String PING_PAYLOAD = "all done";
    private static final int FRAME_HEAD = 9;
    private static final int MAX_FRAME = 16 << 10;

    private final Socket socket;
    private final String host;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);
    private final Map<Integer, String> statuses = new HashMap<>();
    private final Map<Integer, String> bodies = new HashMap<>();
    private final Set<Integer> unanswered = new HashSet<>();
    private final Set<String> resets = new TreeSet<>();
    /** The stream that {@code =} stands for. */
    private int stream = -1;

    public CorpusHttp2(int port, String host) {
        this(new TlsCaller(port, null, "h2").socket(), host);
    }

    /** Speaks HTTP/2 on a connection that is open for it, and closes it in the end. */
    public CorpusHttp2(Socket socket, String host) {
        this.host = host;
        this.socket = socket;
        out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(4, 0, 0, Unpooled.EMPTY_BUFFER);
    }

    /** Sends the lines of a case, and the GET behind them. */
    void send(List<String> lines) {
        lines(lines);
        ByteBuf block = Unpooled.buffer();
        for (String field : List.of(":method = GET", ":scheme = https", ":authority = " + host,
                ":path = " + CorpusRun.BEHIND)) {
            field(block, field);
        }
        head(Math.max(LAST_STREAM, stream + 2), 1, block);
        flush();
    }

    /**
     * Sends {@code head}, {@code data} and {@code frame} lines; the fields of a head stand behind it, indented. Those between
     * {@code times N} and {@code over} are sent so often.
     */
    private void lines(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            String[] words = lines.get(i).split(" ", 4);
            switch (words[0]) {
                case "times" -> {
                    List<String> round = lines.subList(i + 1,
                            i + lines.subList(i, lines.size()).indexOf("over"));
                    for (int left = Integer.parseInt(words[1]); left > 0; left--) {
                        lines(round);
                    }
                    i += round.size() + 1;
                }
                case "head" -> {
                    ByteBuf block = Unpooled.buffer();
                    while (i + 1 < lines.size() && lines.get(i + 1).startsWith("  ")) {
                        i++;
                        field(block, lines.get(i).substring(2).replace("{host}", host));
                    }
                    head(stream(words[1]), ended(words), block);
                }
                case "data" -> frame(0, ended(words), stream(words[1]),
                        latin(CorpusCase.text(words.length > 3 ? words[3] : "")));
                case "frame" -> {
                    String[] parts = lines.get(i).split(" ", 5);
                    frame(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), stream(parts[3]),
                            latin(CorpusCase.text(parts.length > 4 ? parts[4] : "")
                                    .replace("{stream}", number(stream))));
                }
                default -> throw new IllegalStateException(lines.get(i));
            }
        }
    }

    /** A number; {@code +}: the next stream of the caller; {@code =}: the same as before. */
    private int stream(String word) {
        int number = switch (word) {
            case "+" -> stream + 2;
            case "=" -> stream;
            default -> Integer.parseInt(word);
        };
        stream = number == 0 ? stream : number; // the connection is none of them
        return number;
    }

    /** Four octets. */
    private static String number(int value) {
        return Unpooled.copyInt(value).toString(StandardCharsets.ISO_8859_1);
    }

    private static int ended(String[] words) {
        return words.length > 2 && words[2].equals("end") ? 1 : 0;
    }

    private static void field(ByteBuf block, String field) {
        if (field.startsWith("octets ")) {
            block.writeBytes(latin(CorpusCase.text(field.substring("octets ".length()))));
            return;
        }
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

    /** What is written is sent in large pieces. */
    private void frame(int type, int flags, int stream, ByteBuf payload) {
        if (type == RST_STREAM) {
            unanswered.remove(stream);
        }
        out.writeBytes(ByteBufUtil.getBytes(Unpooled.buffer()
                .writeMedium(payload.readableBytes())
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload)));
        if (out.size() > MAX_FRAME) {
            flush();
        }
    }

    private void flush() {
        try {
            out.writeTo(socket.getOutputStream());
        } catch (IOException e) {
            // refused before all was sent: what it was can be read
        }
        out.reset();
    }

    /** A frame that came. */
    private record Received(int type, int flags, int stream, String payload) {}

    private Received next() throws IOException {
        ByteBuf head = latin(read(FRAME_HEAD));
        int length = head.readUnsignedMedium();
        return new Received(head.readUnsignedByte(), head.readUnsignedByte(), head.readInt(), read(length));
    }

    private String read(int length) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("closed");
        }
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /**
     * Reads until all streams are answered and all that was caused is told, or the connection refused. Sorted: streams
     * are answered in any order.
     */
    List<String> answers() {
        List<String> answers = new ArrayList<>();
        try {
            Received frame;
            do {
                frame = next();
                if (frame.type == HEADERS) {
                    statuses.put(frame.stream, status(frame.stream, frame.payload));
                } else if (frame.type == 0) {
                    bodies.merge(frame.stream, frame.payload, String::concat);
                }
                boolean ended = frame.type <= HEADERS && (frame.flags & 1) != 0;
                if (ended) {
                    answers.add(Answers.answer(statuses.getOrDefault(frame.stream, "no head"),
                            bodies.getOrDefault(frame.stream, "")));
                } else if (frame.type == RST_STREAM && !isStop(frame.payload)) {
                    answers.add("reset " + error(frame.payload, 0));
                } else if (frame.type == GOAWAY) {
                    answers.add("goaway " + error(frame.payload, 4));
                }
                if ((ended || frame.type == RST_STREAM) && unanswered.remove(frame.stream)
                        && unanswered.isEmpty()) {
                    ping();
                }
            } while (frame.type != GOAWAY && !isPong(frame));
        } catch (IOException e) {
            answers.add(ended(e));
        }
        return answers.stream().sorted().toList();
    }

    private void ping() {
        frame(PING, 0, 0, latin(PING_PAYLOAD));
        flush();
    }

    private static boolean isPong(Received frame) {
        return frame.type == PING && frame.flags == 1 && frame.payload.equals(PING_PAYLOAD);
    }

    private static String ended(IOException e) {
        return e instanceof SocketTimeoutException ? "silent" : "closed";
    }

    /**
     * Sends a case and a PING, and reads until the server has answered that or ended the connection. Streams need no answer.
     *
     * @return {@code goaway CODE} or {@code closed} alone, else the codes of resets, and {@code lives}
     */
    public List<String> flood(CorpusCase given) {
        send(given.lines());
        ping();
        try {
            while (true) {
                Received frame = next();
                if (frame.type == GOAWAY) {
                    return List.of("goaway " + error(frame.payload, 4));
                } else if (frame.type == RST_STREAM && !isStop(frame.payload)) {
                    resets.add("reset " + error(frame.payload, 0));
                } else if (isPong(frame)) {
                    List<String> found = new ArrayList<>(resets);
                    found.addFirst("lives");
                    return found;
                }
            }
        } catch (IOException e) {
            return List.of(ended(e));
        }
    }

    /** Sends a case and the GET behind it, and returns all answers, sorted. */
    public List<String> answers(CorpusCase given) {
        send(given.lines());
        return answers();
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
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
