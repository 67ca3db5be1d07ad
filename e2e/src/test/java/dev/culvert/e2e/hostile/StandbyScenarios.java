package dev.culvert.e2e.hostile;

import dev.culvert.certs.TlsMaterial;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.Hello;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Instances of one tenant that wait for its runtime (docs/protocol.md §4.3). */
final class StandbyScenarios {
    /** As many as may wait for a runtime. */
    private static final int MAX = 4;
    /** The connects after which the owner goes, and a promotion begins. */
    private static final int OWNER_LIVES = 20;

    private StandbyScenarios() {}

    static List<Scenario> all() {
        return List.of(
                new Scenario("standby-churn",
                        "instances that wait, leave at once, claim the highest priority and answer no promotion",
                        20, StandbyScenarios::churn),
                Scenario.once("standby",
                        "a fifth instance that waits, and one that sends more than heartbeats",
                        StandbyScenarios::bounds));
    }

    /** Keeps the places full of instances that never answer; its owner goes again and again. */
    private static void churn(Attack attack, double perSecond) throws IOException {
        TlsMaterial identity = attack.identity();
        Deque<RawTunnel> waiting = new ArrayDeque<>();
        RawTunnel[] owner = {attack.keep(RawTunnel.open(attack.target, attack.address(), identity))};
        int[] connects = {0};
        attack.inTurn(perSecond, () -> {
            if (++connects[0] % OWNER_LIVES == 0) {
                owner[0].close();
                owner[0] = attack.keep(RawTunnel.open(attack.target, attack.address(), identity));
            }
            try {
                waiting.add(attack.keep(RawTunnel.waiting(attack.target, attack.address(), identity,
                        Hello.MAX_PRIORITY)));
            } catch (IOException refused) {
                attack.answered(String.valueOf(refused.getMessage()));
            }
            if (waiting.size() > MAX - 1) {
                waiting.remove().close();
            }
        });
    }

    private static void bounds(Attack attack) throws IOException {
        TlsMaterial identity = attack.identity();
        attack.keep(RawTunnel.open(attack.target, attack.address(), identity)).serving(frame -> {});
        List<RawTunnel> waiting = new ArrayList<>();
        for (int i = 0; i < MAX; i++) {
            waiting.add(attack.keep(RawTunnel.waiting(attack.target, attack.address(), identity, i)));
        }
        try {
            attack.keep(RawTunnel.waiting(attack.target, attack.address(), identity, Hello.MAX_PRIORITY));
            attack.fault("a fifth instance waits");
        } catch (IOException refused) {
            if (!String.valueOf(refused.getMessage()).startsWith("CONFLICT another client serves")) {
                attack.fault("the fifth instance got " + refused.getMessage());
            }
        }
        RawTunnel loud = waiting.getFirst().reading(frame -> {
            if (!(frame instanceof Frame.GoAway)) {
                attack.fault("a session that waits got " + frame);
            }
        });
        loud.send(new Frame.Announce(new byte[1], true));
        String code = loud.end();
        if (!code.equals("PROTOCOL")) {
            attack.fault("a session that waits and announces ended with " + code);
        }
    }
}
