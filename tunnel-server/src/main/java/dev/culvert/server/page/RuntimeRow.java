package dev.culvert.server.page;

import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.web.Format;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the list shows of one runtime.
 *
 * @param name its name
 * @param host its own host
 * @param state what is the matter with its tunnel
 * @param since when its oldest session was established, or its last one was lost; null: not known
 * @param rttSeconds the longest last round trip of its sessions; not a number: none yet
 * @param streams the open streams
 * @param bytesPerSecond the body bytes of its callers, both ways; not a number: not known yet
 * @param versions the versions of its clients
 * @param sessions the number of its sessions
 * @param certificateUntil when the first certificate of its clients ends; null: not known
 * @param waiting the number of instances that wait because another one serves
 */
public record RuntimeRow(RuntimeName name, String host, RuntimeState state, @Nullable Instant since,
        double rttSeconds, int streams, double bytesPerSecond, String versions, int sessions,
        @Nullable Instant certificateUntil, int waiting) {
    /** The topic of its live updates. */
    public String topic() {
        return topic(name);
    }

    static String topic(RuntimeName name) {
        return "runtime:" + name;
    }

    /** The path of its page. */
    public String path() {
        return "/runtimes/" + name;
    }

    public String rtt() {
        return Format.seconds(rttSeconds);
    }

    public String rate() {
        return Double.isFinite(bytesPerSecond) ? Format.bytes(bytesPerSecond) + "/s" : Format.NONE;
    }
}
