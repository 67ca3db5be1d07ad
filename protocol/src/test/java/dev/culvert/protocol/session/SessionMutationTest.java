package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.session.Session.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * 100,000 mutated inputs (truncated, bit-flipped, reordered, duplicated, oversized) against codec and session in both roles.
 * They start from recorded traffic, behind a valid beginning, so that they reach states that noise never would.
 */
final class SessionMutationTest {
    private static final int INPUTS_PER_ROLE = 50_000;
    private static final int RECORDINGS = 8;
    private static final int MAX_PER_SESSION = 30;
    private static final int LONGEST_BEGINNING = 40;

    private final Random random = new Random(42);
    private final List<Recording> recordings = new ArrayList<>();
    private int inputsSurvived;
    private int sessionsEnded;

    @Test
    void mutatedInputNeverBreaksAClient() {
        run(Role.CLIENT);
    }

    @Test
    void mutatedInputNeverBreaksAServer() {
        run(Role.SERVER);
    }

    private void run(Role role) {
        List<byte[]> all = new ArrayList<>();
        for (int seed = 0; seed < RECORDINGS; seed++) {
            Recording recording = Recording.of(seed);
            recordings.add(recording);
            all.addAll(recording.toClient);
            all.addAll(recording.toServer);
        }
        Mutations mutations = new Mutations(random, all);
        for (int inputs = 0; inputs < INPUTS_PER_ROLE;) {
            inputs += session(role, mutations);
        }
        assertThat(sessionsEnded).as("sessions ended").isGreaterThan(INPUTS_PER_ROLE / 10);
        assertThat(inputsSurvived).as("inputs that left the session live")
                .isGreaterThan(INPUTS_PER_ROLE / 10);
    }

    /** One session: a valid beginning, then mutated batches while it lives. Returns how many. */
    private int session(Role role, Mutations mutations) {
        Recording recording = recordings.get(random.nextInt(recordings.size()));
        List<byte[]> batches = role == Role.CLIENT ? recording.toClient : recording.toServer;
        Victim victim = new Victim(role, random);
        int at = random.nextInt(1 + random.nextInt(Math.min(LONGEST_BEGINNING, batches.size())));
        for (int i = 0; i < at && !victim.session.isClosed(); i++) {
            valid(role, recording, victim, i);
        }
        int inputs = 0;
        while (inputs < MAX_PER_SESSION && at < batches.size() && !victim.session.isClosed()) {
            victim.take(mutations.mutate(batches.get(at)));
            victim.assertBounded();
            inputs++;
            at += random.nextInt(2);
        }
        sessionsEnded += victim.session.isClosed() ? 1 : 0;
        inputsSurvived += inputs - (victim.session.isClosed() ? 1 : 0);
        victim.end();
        return Math.max(1, inputs);
    }

    private static void valid(Role role, Recording recording, Victim victim, int batch) {
        if (role == Role.SERVER) {
            victim.openUpTo(recording.openedBefore.get(batch));
        }
        victim.take((role == Role.CLIENT ? recording.toClient : recording.toServer).get(batch));
    }
}
