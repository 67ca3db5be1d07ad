package dev.culvert.benchmarks.result;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * A cell and its partner.
 *
 * @param partner the baseline's cell of the same round; null if there is none, and for the baseline itself
 */
record PairedCell(RoundKey at, Cell cell, @Nullable Cell partner) {

    /** The ratio to the partner's figure; empty without a partner, or if an exchange of either failed. */
    OptionalDouble ratio(Figure figure) {
        if (partner == null || !cell.load().sound() || !partner.load().sound()) {
            return OptionalDouble.empty();
        }
        OptionalDouble own = figure.of(cell);
        OptionalDouble base = figure.of(partner);
        return own.isPresent() && base.orElse(0) > 0
                ? OptionalDouble.of(own.getAsDouble() / base.getAsDouble())
                : OptionalDouble.empty();
    }
}
