package dev.culvert.client.dial;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.protocol.frame.Hello;

/**
 * What this client does while another one with the same identity serves its runtime: a second replica, or the
 * pod before in a rolling update.
 *
 * @param mode {@code takeOver} or {@code wait}
 * @param priority of several that wait the server promotes the one with the highest, then the one that has
 *     waited longest
 */
public record Standby(
        @Setting(value = "When this client starts while another one serves the runtime: take it over, or wait until that one has gone. A client that was replaced waits", byDefault = Standby.TAKE_OVER, accepts = "takeOver or wait", shorthand = true) String mode,
        @Setting(value = "Of several clients that wait, the one with the highest is promoted, then the one that has waited longest", byDefault = "0", accepts = "0..65535") int priority) {
    static final String TAKE_OVER = "takeOver";
    static final String WAIT = "wait";

    public Standby {
        if (!mode.equals(TAKE_OVER) && !mode.equals(WAIT)) {
            throw new ConfigException("mode", "takeOver or wait");
        }
        if (priority < 0 || priority > Hello.MAX_PRIORITY) {
            throw new ConfigException("priority", "0.." + Hello.MAX_PRIORITY);
        }
    }

    /** The default: a new client takes over. */
    public static Standby usual() {
        return new Standby(TAKE_OVER, 0);
    }

    /** A client that waits while another one serves. */
    public static Standby waiting(int priority) {
        return new Standby(WAIT, priority);
    }

    /** Whether a new client takes the runtime over. */
    public boolean takesOver() {
        return mode.equals(TAKE_OVER);
    }
}
