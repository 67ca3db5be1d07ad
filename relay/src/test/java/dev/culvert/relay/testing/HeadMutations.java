package dev.culvert.relay.testing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Heads made of usual and unusual lines, some of them damaged. Each is like the one before, as on a connection. */
public final class HeadMutations {
    private static final List<String> ODD = List.of("\r", "\n", "\r\n", " ", "\t", ":", "\0", "\u007f",
            "\u0080", "\u00ff",
            ",", ";", "#", "?", "%", "HTTP/1.1", "HTTP/1.0", "chunked", "close", "0", "1", "x");

    private final List<String> firstLines;
    private final List<String> lines;
    private final RandomGenerator random;
    private String last = "";

    public HeadMutations(long seed, List<String> firstLines, List<String> lines) {
        this.random = RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(seed);
        this.firstLines = firstLines;
        this.lines = lines;
    }

    /** The next head, with the empty line unless that was damaged; a byte each character. */
    public byte[] next() {
        if (last.isEmpty() || random.nextInt(8) == 0) {
            last = fresh();
        } else if (random.nextInt(4) == 0) {
            last = oneLineChanged();
        }
        String head = last;
        if (random.nextInt(3) == 0) {
            for (int i = random.nextInt(3); i >= 0; i--) {
                head = damaged(head);
            }
        }
        return head.getBytes(StandardCharsets.ISO_8859_1);
    }

    private String fresh() {
        var head = new StringBuilder(pick(firstLines)).append("\r\n");
        for (int i = random.nextInt(8); i >= 0; i--) {
            head.append(pick(lines)).append("\r\n");
        }
        return head.append("\r\n").toString();
    }

    private String oneLineChanged() {
        String[] parts = last.split("\r\n", -1);
        int at = random.nextInt(parts.length);
        parts[at] = at == 0 ? pick(firstLines) : at >= parts.length - 2 ? parts[at] : pick(lines);
        return String.join("\r\n", parts);
    }

    private String damaged(String head) {
        int at = random.nextInt(head.length() + 1);
        String odd = pick(ODD);
        return switch (random.nextInt(3)) {
            case 0 -> head.substring(0, at) + odd + head.substring(at);
            case 1 -> head.substring(0, at) + head.substring(Math.min(head.length(), at + 1));
            default ->
                head.substring(0, at) + odd + head.substring(Math.min(head.length(), at + odd.length()));
        };
    }

    private String pick(List<String> from) {
        return from.get(random.nextInt(from.size()));
    }
}
