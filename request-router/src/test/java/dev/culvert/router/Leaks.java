package dev.culvert.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** What must be zero when everything is over. */
final class Leaks {
    private Leaks() {}

    static void assertNothingBuffered(LongSupplier bufferedBytes, IntSupplier connections) {
        await().untilAsserted(() -> {
            assertThat(bufferedBytes.getAsLong()).as("buffered bytes").isZero();
            assertThat(connections.getAsInt()).as("open connections").isZero();
        });
    }
}
