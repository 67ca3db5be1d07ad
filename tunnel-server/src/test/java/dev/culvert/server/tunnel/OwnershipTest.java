package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.server.tunnel.Ownership.Answer;
import dev.culvert.server.tunnel.Ownership.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §4.3: who owns a tunnel. */
class OwnershipTest {
    private static final UUID A = new UUID(1, 1);
    private static final UUID B = new UUID(2, 2);
    private static final UUID C = new UUID(3, 3);
    private static final int NO = Hello.NO_STANDBY;

    private final Ownership ownership = new Ownership(new LocalWaitingInstances());

    private Answer waits(UUID instance, int priority) {
        return ownership.connected(instance, false, priority);
    }

    @Test
    void firstInstanceOwnsAndTheNextWaits() {
        assertThat(waits(A, 0)).isEqualTo(Answer.OWNS);
        assertThat(waits(B, 0)).isEqualTo(Answer.WAITS);
        assertThat(ownership.connected(A, false, 0)).isEqualTo(Answer.JOINS);
        assertThat(ownership.steps()).isEmpty();
    }

    @Test
    void instanceThatCanNotWaitIsRefusedOrTakesOver() {
        waits(A, 0);

        assertThat(ownership.connected(B, false, NO)).isEqualTo(Answer.REFUSED);
        assertThat(ownership.connected(B, true, NO)).isEqualTo(Answer.TAKES_OVER);
        assertThat(ownership.steps()).containsExactly(new Step.LetGo(A, ErrorCode.REPLACED));
    }

    @Test
    void ofThoseThatWaitTheHighestPriorityThenTheLongestWaitingIsPromoted() {
        UUID d = new UUID(4, 4);
        waits(A, 0);
        waits(B, 1);
        waits(C, 2);
        waits(d, 2);
        waits(C, 2); // again, and keeps its place

        ownership.gone(A);
        assertThat(ownership.steps()).containsExactly(new Step.Promote(C));
        assertThat(ownership.answered(C)).isTrue();
        ownership.gone(C);
        ownership.answered(d);
        ownership.gone(d);

        assertThat(ownership.steps()).containsExactly(new Step.Promote(d), new Step.Promote(B));
    }

    @Test
    void higherPriorityMovesNothing() {
        waits(A, 0);
        waits(B, 9);

        assertThat(ownership.owner()).isEqualTo(A);
        assertThat(ownership.steps()).isEmpty();
    }

    @Test
    void fifthThatWaitsIsTold() {
        waits(A, 0);
        for (int i = 0; i < WaitingInstances.MAX; i++) {
            assertThat(waits(new UUID(7, i), 0)).isEqualTo(Answer.WAITS);
        }

        assertThat(waits(B, 9)).isEqualTo(Answer.FULL);
        assertThat(waits(new UUID(7, 0), 1)).as("one that waits already").isEqualTo(Answer.WAITS);
        ownership.gone(new UUID(7, 3));
        assertThat(waits(B, 9)).isEqualTo(Answer.WAITS);
    }

    @Test
    void ownerThatLeavesServesUntilItsSuccessorHasAnswered() {
        waits(A, 0);
        waits(B, 0);
        ownership.leaves(A);

        assertThat(ownership.steps()).containsExactly(new Step.Promote(B));
        assertThat(ownership.owner()).isEqualTo(A);
        ownership.answered(B);
        assertThat(ownership.steps()).containsExactly(new Step.LetGo(A, ErrorCode.REPLACED));
        assertThat(ownership.owner()).isEqualTo(B);
    }

    @Test
    void ownerThatLeavesIsLetGoWhenNobodyAnswers() {
        waits(A, 0);
        waits(B, 0);
        waits(C, 0);
        ownership.leaves(A);
        ownership.gone(B);
        ownership.gone(C);

        assertThat(ownership.steps()).containsExactly(new Step.Promote(B), new Step.Promote(C),
                new Step.LetGo(A, ErrorCode.DRAINING));
        assertThat(ownership.owner()).isNull();
    }

    @Test
    void takeOverRecallsAPromotion() {
        waits(A, 0);
        waits(B, 0);
        ownership.gone(A);
        ownership.steps();

        assertThat(ownership.connected(C, true, NO)).isEqualTo(Answer.TAKES_OVER);
        assertThat(ownership.steps()).containsExactly(new Step.Recall(B));
        assertThat(ownership.answered(B)).isFalse();
        assertThat(ownership.owner()).isEqualTo(C);
    }

    @Test
    void secondConnectionOfAPromotedInstanceIsAnAnswerToo() {
        waits(A, 0);
        waits(B, 0);
        ownership.leaves(A);

        assertThat(ownership.connected(B, false, 0)).isEqualTo(Answer.JOINS);
        assertThat(ownership.answered(B)).isTrue();
        assertThat(ownership.owner()).isEqualTo(B);
    }

    @Test
    void serverThatStopsPromotesNobody() {
        waits(A, 0);
        waits(B, 0);
        ownership.stop();
        ownership.gone(A);

        assertThat(ownership.steps()).isEmpty();
    }

    // ---- every interleaving of two instances ----

    private enum Op {
        /** Opens a connection that may take over. */
        CONNECT,
        /** Opens a connection that waits if it must. */
        WAIT,
        /** Answers its promotion. */
        PROMOTE,
        /** Asks for a successor. */
        DRAIN,
        /** Its sessions end. */
        CLOSE,
        /** Its sessions end because nothing was heard of it, which is seen late. */
        SILENCE
    }

    private record Event(Op op, UUID instance) {}

    private static final List<Event> EVENTS = events();

    private static List<Event> events() {
        List<Event> all = new ArrayList<>();
        for (Op op : Op.values()) {
            all.add(new Event(op, A));
            all.add(new Event(op, B));
        }
        return all;
    }

    /** The state of one instance's sessions, as a client and a server would keep it. */
    private enum Sessions {
        NONE, WAITING, PROMOTED, SERVING
    }

    /** A run of the state machine whose caller does what it is asked. Checks the rules after each event. */
    private static final class Run {
        private final Ownership ownership = new Ownership(new LocalWaitingInstances());
        private final Sessions[] sessions = {Sessions.NONE, Sessions.NONE};
        /** Whether the owner asked for a successor. */
        private boolean leaving;

        private static int index(UUID instance) {
            return instance.equals(A) ? 0 : 1;
        }

        /** Applies an event. Returns false if it can't happen now. */
        boolean apply(Event event) {
            UUID instance = event.instance;
            int at = index(instance);
            UUID before = ownership.owner();
            switch (event.op) {
                case CONNECT, WAIT -> connect(event, at);
                case PROMOTE -> {
                    if (sessions[at] != Sessions.PROMOTED) {
                        return false;
                    }
                    assertThat(ownership.answered(instance)).isTrue();
                    sessions[at] = Sessions.SERVING;
                }
                case DRAIN -> {
                    if (sessions[at] != Sessions.SERVING) {
                        return false;
                    }
                    ownership.leaves(instance);
                }
                case CLOSE, SILENCE -> {
                    if (sessions[at] == Sessions.NONE) {
                        return false;
                    }
                    sessions[at] = Sessions.NONE;
                    ownership.gone(instance);
                }
            }
            take(ownership.steps());
            check();
            UUID after = ownership.owner();
            leaving = leaving || event.op == Op.DRAIN;
            if (before != null && !before.equals(after)) {
                boolean itself = before.equals(instance) && event.op != Op.WAIT && event.op != Op.CONNECT;
                boolean takenOver = !before.equals(instance) && event.op == Op.CONNECT;
                assertThat(itself || takenOver || leaving).as("owner changed by %s", event).isTrue();
            }
            leaving = leaving && before != null && before.equals(after);
            return true;
        }

        private void connect(Event event, int at) {
            boolean takesOver = event.op == Op.CONNECT;
            Sessions had = sessions[at];
            boolean others = sessions[1 - at] == Sessions.SERVING || sessions[1 - at] == Sessions.PROMOTED;
            Answer answer = ownership.connected(event.instance, takesOver, takesOver ? Hello.NO_STANDBY : 0);
            assertThat(answer).isNotIn(Answer.REFUSED, Answer.FULL);
            sessions[at] = answer == Answer.WAITS ? Sessions.WAITING : Sessions.SERVING;
            if (answer == Answer.WAITS) {
                assertThat(takesOver).isFalse();
                assertThat(others).as("another one serves or is promoted").isTrue();
            } else if (had == Sessions.SERVING || had == Sessions.PROMOTED) {
                assertThat(answer).isEqualTo(Answer.JOINS);
            } else {
                assertThat(answer).isEqualTo(others ? Answer.TAKES_OVER : Answer.OWNS);
            }
        }

        private void take(List<Step> steps) {
            for (Step step : steps) {
                int of = index(step.instance());
                switch (step) {
                    case Step.Promote promote -> {
                        assertThat(sessions[of]).isEqualTo(Sessions.WAITING);
                        sessions[of] = Sessions.PROMOTED;
                    }
                    case Step.LetGo letGo -> {
                        assertThat(sessions[of]).isEqualTo(Sessions.SERVING);
                        sessions[of] = Sessions.NONE;
                    }
                    case Step.Recall recall -> {
                        assertThat(sessions[of]).isEqualTo(Sessions.PROMOTED);
                        sessions[of] = Sessions.NONE;
                    }
                }
            }
        }

        private void check() {
            List<Sessions> now = List.of(sessions);
            assertThat(now.stream().filter(Sessions.SERVING::equals).count()).as("owners").isLessThan(2);
            assertThat(now.stream().filter(Sessions.PROMOTED::equals).count()).as("promotions").isLessThan(2);
            UUID owner = ownership.owner();
            UUID promoted = ownership.promoted();
            for (UUID instance : List.of(A, B)) {
                Sessions of = sessions[index(instance)];
                assertThat(of == Sessions.SERVING).isEqualTo(instance.equals(owner));
                assertThat(of == Sessions.PROMOTED).isEqualTo(instance.equals(promoted));
            }
            boolean waits = now.contains(Sessions.WAITING);
            assertThat(waits && owner == null && promoted == null).as("waits for nobody").isFalse();
        }

        /** Every promotion is answered: then somebody serves if anybody is there. */
        void settle() {
            for (UUID instance : List.of(A, B)) {
                if (sessions[index(instance)] == Sessions.PROMOTED) {
                    apply(new Event(Op.PROMOTE, instance));
                }
            }
            List<Sessions> now = List.of(sessions);
            assertThat(now.contains(Sessions.SERVING) || now.stream().allMatch(Sessions.NONE::equals))
                    .as("somebody serves: %s", now)
                    .isTrue();
        }
    }

    private static long follow(List<Event> path, int depth) {
        long runs = 0;
        for (Event event : EVENTS) {
            path.add(event);
            Run run = new Run();
            boolean possible = true;
            for (Event step : path) {
                possible = possible && run.apply(step);
            }
            if (possible) {
                runs++;
                if (depth > 1) {
                    runs += follow(path, depth - 1);
                }
                run.settle();
            }
            path.removeLast();
        }
        return runs;
    }

    @Test
    void everyInterleavingOfTwoInstancesKeepsTheRules() {
        assertThat(follow(new ArrayList<>(), 6)).isGreaterThan(10_000);
    }
}
