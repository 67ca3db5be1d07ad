package dev.culvert.appproxy.git;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/** Requests of fetches and pushes with mistakes at random. The same ones each time. */
final class MutatedRequests {
    private static final int MAX_MISTAKES = 6;
    private static final int MAX_COPIES = 2000;
    private static final int LONGEST = 4 << 20;

    private final Random random = new Random(57);
    private final List<Request> right;

    /**
     * A request.
     *
     * @param service {@code git-upload-pack} or {@code git-receive-pack}
     * @param body each byte as a character
     * @param fields its own fields, each with its line end
     */
    record Request(String service, String body, String fields) {}

    private MutatedRequests(List<Request> right) {
        this.right = right;
    }

    /**
     * Requests for a repository.
     *
     * @param work a clone with one pack
     * @param tip its newest commit
     * @param want a fetch by protocol version 0
     */
    static MutatedRequests of(Path work, String tip, String want) throws IOException {
        byte[] pack;
        try (Stream<Path> packs = Files.list(work.resolve(".git/objects/pack"))) {
            pack = Files.readAllBytes(packs.filter(file -> file.toString().endsWith(".pack"))
                    .findFirst()
                    .orElseThrow());
        }
        String command = packet("0".repeat(40) + " " + tip + " refs/heads/new\0report-status side-band-64k");
        String fetch = packet("command=fetch") + "0001" + packet("ofs-delta") + packet("want " + tip + "\n")
                + packet("have " + "1".repeat(40) + "\n") + packet("done\n") + "0000";
        return new MutatedRequests(List.of(new Request("git-upload-pack", want, ""),
                new Request("git-upload-pack", fetch, "Git-Protocol: version=2\r\n"),
                new Request("git-receive-pack",
                        command + "0000" + new String(pack, StandardCharsets.ISO_8859_1), "")));
    }

    private static String packet(String text) {
        return String.format("%04x%s", text.length() + 4, text);
    }

    Request next() {
        Request one = right.get(random.nextInt(right.size()));
        byte[] body = one.body.getBytes(StandardCharsets.ISO_8859_1);
        for (int mistakes = 1 + random.nextInt(MAX_MISTAKES); mistakes > 0; mistakes--) {
            body = mutated(body);
        }
        boolean compressed = random.nextBoolean();
        if (compressed) {
            body = gzip(body);
            body = random.nextInt(4) == 0 ? mutated(body) : body;
        }
        return new Request(one.service, new String(body, StandardCharsets.ISO_8859_1),
                "Content-Type: application/x-" + one.service + "-request\r\n" + one.fields
                        + (compressed ? "Content-Encoding: gzip\r\n" : ""));
    }

    private byte[] mutated(byte[] body) {
        int from = random.nextInt(body.length + 1);
        int to = Math.min(body.length, from + random.nextInt(64));
        byte[] part = Arrays.copyOfRange(body, from, to);
        return switch (random.nextInt(6)) {
            case 0 -> spliced(body, from, from, random(random.nextInt(32)));
            case 1 -> spliced(body, from, to, new byte[0]);
            case 2 -> spliced(body, from, to, repeated(part));
            case 3 -> spliced(body, from, Math.min(body.length, from + 4),
                    String.format("%04x", random.nextInt(0x10000)).getBytes(StandardCharsets.US_ASCII));
            case 4 -> spliced(body, from, to, random(part.length));
            default -> random.nextInt(4) == 0 ? Arrays.copyOf(body, from) : repeatedPackets(body);
        };
    }

    /** The first packet many times, as haves or commands without end. */
    private byte[] repeatedPackets(byte[] body) {
        return spliced(body, 0, 0, repeated(Arrays.copyOf(body, Math.min(body.length, 50))));
    }

    private byte[] repeated(byte[] part) {
        var many = new ByteArrayOutputStream();
        for (int copies = random.nextInt(MAX_COPIES); copies > 0; copies--) {
            many.writeBytes(part);
        }
        return many.toByteArray();
    }

    private byte[] random(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] spliced(byte[] body, int from, int to, byte[] part) {
        var out = new ByteArrayOutputStream();
        out.write(body, 0, from);
        out.writeBytes(part);
        out.write(body, to, body.length - to);
        return out.size() > LONGEST ? Arrays.copyOf(out.toByteArray(), LONGEST) : out.toByteArray();
    }

    private static byte[] gzip(byte[] plain) {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(plain);
        } catch (IOException e) {
            throw new IllegalStateException("memory can be written to", e);
        }
        return packed.toByteArray();
    }
}
