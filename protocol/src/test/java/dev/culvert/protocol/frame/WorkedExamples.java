package dev.culvert.protocol.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The byte literals of docs/protocol.md §14, read from the page so that it can't drift from the code. */
public final class WorkedExamples {
    private static final Path PAGE = Path.of("..", "docs", "protocol.md");
    private static final Pattern BATCH = Pattern.compile("(server → client|client → server), .*");
    private static final Pattern BYTES = Pattern.compile("\\s*((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:\\s\\s.*)?");

    private WorkedExamples() {}

    /** The batches of the section, in order, as hexadecimal digits. */
    public static List<String> batches() {
        List<String> batches = new ArrayList<>();
        boolean inBatch = false;
        for (String line : section("## 14.")) {
            Matcher bytes = BYTES.matcher(line);
            if (BATCH.matcher(line).matches()) {
                batches.add("");
                inBatch = true;
            } else if (inBatch && bytes.matches()) {
                batches.add(batches.removeLast() + bytes.group(1).replace(" ", ""));
            } else {
                inBatch = false;
            }
        }
        assertThat(batches).as("batches of §14").hasSize(3);
        return batches;
    }

    /** Returns a buffer the caller owns. */
    public static ByteBuf buffer(String hex) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));
    }

    private static List<String> section(String heading) {
        try {
            List<String> lines = Files.readAllLines(PAGE);
            int start = 0;
            while (!lines.get(start).startsWith(heading)) {
                start++;
            }
            int end = start + 1;
            while (end < lines.size() && !lines.get(end).startsWith("## ")) {
                end++;
            }
            return lines.subList(start, end);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
