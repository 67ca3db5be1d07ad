package dev.culvert.protocol.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TableSizeUpdatesTest {
    /** 0x20 is an update to 0, 3fe11f one to 4096, 82 the field ":method: GET", 40 begins a literal. */
    @ParameterizedTest
    @CsvSource({"82, true", "'', true", "2082, true", "3fe11f82, true", "203fe11f82, true", "202020, false",
            "203fe11f2082, false", "3fe11f3fe11f3fe11f, false", "822020208282, true", "3fffffff2020, true",
            "40012001202082, true"})
    void twoUpdatesAtTheStartAreTheMost(String hex, boolean few) {
        ByteBuf block = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));

        assertThat(TableSizeUpdates.areFew(block)).isEqualTo(few);
        assertThat(readSingly(block)).isEqualTo(few);
    }

    private static boolean readSingly(ByteBuf block) {
        var updates = new TableSizeUpdates();
        updates.begin();
        for (int at = 0; at < block.writerIndex(); at++) {
            if (!updates.read(block, at, at + 1)) {
                return false;
            }
        }
        return true;
    }
}
