package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadSizeTest {
    private final ReadSize size = new ReadSize();

    private void read(int partsOfARecord, int record) {
        int bytes = 0;
        for (int i = 0; i < 1000; i++) {
            bytes += size.next();
            if (bytes >= record) { // as TLS, which hands on whole records
                bytes -= record;
                size.part(partsOfARecord);
            }
            size.read(size.next());
        }
    }

    @Test
    void largePartsAreReadInLargePieces() {
        read(1, 16 << 10);

        assertThat(size.next()).isEqualTo(ReadSize.MAX_BYTES);
    }

    @Test
    void smallPartsAreReadInSmallPieces() {
        read(1600, 16 << 10);

        assertThat(size.next()).isLessThan(4 << 10);
    }

    @Test
    void aPeerThatBettersItselfIsReadAsBefore() {
        read(1600, 16 << 10);
        read(1, 16 << 10);

        assertThat(size.next()).isEqualTo(ReadSize.MAX_BYTES);
    }

    @Test
    void aPassReadsOnce() {
        assertThat(size.maxMessagesPerRead()).isEqualTo(1);
    }
}
