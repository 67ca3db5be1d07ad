package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.quota.SourceStandings.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who gives way when all places of a runtime's streams are taken. */
class StreamPlacesTest {
    private static final int MAX = 16;
    private static final SourceAddress HONEST = source(1);
    private static final SourceAddress OTHER = source(2);
    private static final int STRANGERS = 100;
    private static final int NEWCOMERS = 200;

    private final SourceStandings known = new SourceStandings();
    private Duration later = Duration.ZERO;
    private final StreamPlaces places = new StreamPlaces(MAX, known,
            () -> System.nanoTime() + later.toNanos());
    private final List<SourceAddress> gaveWay = new ArrayList<>();

    private static SourceAddress source(int number) {
        return new SourceAddress(number, false);
    }

    private StreamPlaces.@Nullable Place take(SourceAddress source) {
        return places.take(source, () -> gaveWay.add(source));
    }

    private StreamPlaces.Place taken(SourceAddress source) {
        return Objects.requireNonNull(take(source));
    }

    private void answer(SourceAddress source) {
        StreamPlaces.Place place = taken(source);
        place.answered();
        place.close();
    }

    /** One unanswered request of each. */
    private void fillWithStrangers(int number) {
        for (int i = 0; i < number; i++) {
            taken(source(STRANGERS + i));
        }
    }

    @Test
    void aSourceThatWasAnsweredTakesTheOldestStrangersPlaceAtOnce() {
        answer(HONEST);
        fillWithStrangers(MAX);

        for (int i = 0; i < 4; i++) {
            taken(HONEST);
        }

        assertThat(gaveWay).containsExactly(source(STRANGERS), source(STRANGERS + 1), source(STRANGERS + 2),
                source(STRANGERS + 3));
        assertThat(take(HONEST)).isNull(); // it is no source with few any more
        assertThat(places.used()).isEqualTo(MAX);
    }

    @Test
    void strangersTakeNoPlaceOfASourceThatWasAnsweredAndHoldsFew() {
        answer(HONEST);
        for (int i = 0; i < 4; i++) {
            taken(HONEST);
        }
        fillWithStrangers(MAX - 4);

        later = StreamPlaces.IDLE.multipliedBy(3);
        for (int i = 0; i < 4 * MAX; i++) {
            take(source(NEWCOMERS + i));
        }

        assertThat(gaveWay).isNotEmpty().doesNotContain(HONEST);
    }

    @Test
    void aSlowReaderGivesWayLikeAStrangerAlthoughItIsAnswered() {
        answer(HONEST);
        for (int i = 0; i < MAX; i++) {
            SourceAddress slow = source(STRANGERS + i);
            places.readsSlowly(slow);
            taken(slow).answered();
        }

        taken(HONEST);
        assertThat(gaveWay).containsExactly(source(STRANGERS));
        assertThat(take(OTHER)).isNull();
        assertThat(take(source(STRANGERS))).isNull();
        later = StreamPlaces.STRANGER;
        taken(OTHER).answered();
        assertThat(gaveWay).containsExactly(source(STRANGERS), source(STRANGERS + 1));
        assertThat(take(source(STRANGERS + 1))).isNull();
    }

    @Test
    void aSlowReadersSecondStreamGivesWayToANewSource() {
        for (int i = 0; i < MAX / 2; i++) {
            SourceAddress slow = source(STRANGERS + i);
            taken(slow).answered();
            taken(slow).answered();
            places.readsSlowly(slow);
        }

        taken(OTHER);

        assertThat(gaveWay).hasSize(1);
    }

    @Test
    void aNewSourceTakesAStrangersPlaceAfterAMomentAndOneThatGaveWayMuchLater() {
        fillWithStrangers(MAX);
        assertThat(take(OTHER)).isNull();

        later = StreamPlaces.STRANGER;
        taken(OTHER);
        assertThat(gaveWay).containsExactly(source(STRANGERS));
        assertThat(take(OTHER)).isNull(); // it holds one
        assertThat(take(source(STRANGERS))).isNull();

        later = StreamPlaces.IDLE;
        taken(source(STRANGERS));
        assertThat(gaveWay).hasSize(2);
    }

    @Test
    void aStrangerThatHadNoTimeToBeAnsweredComesAgainAsANewSource() {
        answer(HONEST);
        fillWithStrangers(MAX);
        taken(HONEST);
        assertThat(gaveWay).containsExactly(source(STRANGERS));

        later = StreamPlaces.STRANGER;
        taken(source(STRANGERS));

        assertThat(gaveWay).containsExactly(source(STRANGERS), source(STRANGERS + 1));
        assertThat(take(source(STRANGERS + 1))).isNull(); // nobody had answered it in time
    }

    @Test
    void aStrangerWhoseBytesCrossGivesWayAfterThoseThatAreSilent() {
        StreamPlaces.Place busy = taken(OTHER);
        fillWithStrangers(MAX - 1);
        busy.touch();
        later = StreamPlaces.STRANGER;

        for (int i = 0; i < MAX - 1; i++) {
            taken(source(NEWCOMERS + i));
        }

        assertThat(gaveWay).hasSize(MAX - 1).doesNotContain(OTHER);
    }

    @Test
    void longPollsOfSourcesThatWereAnsweredStayWhileStrangersHaveMostPlaces() {
        answer(HONEST);
        StreamPlaces.Place longPoll = taken(HONEST);
        StreamPlaces.Place webSocket = taken(OTHER);
        webSocket.answered();
        fillWithStrangers(MAX - 2);

        for (int seconds = 1; seconds < 60; seconds++) {
            later = Duration.ofSeconds(seconds);
            for (int i = 0; i < 10; i++) {
                take(source(NEWCOMERS + 10 * seconds + i));
            }
        }

        assertThat(gaveWay).isNotEmpty().doesNotContain(HONEST, OTHER);
        longPoll.close();
        webSocket.close();
    }

    @Test
    void theLongestIdleGivesWayWhereNoStrangersAre() {
        for (int i = 0; i < MAX; i++) {
            taken(source(STRANGERS + i)).answered();
        }

        assertThat(take(OTHER)).isNull();
        assertThat(places.sources()).isEqualTo(MAX);
    }

    @Test
    void whatIsKnownOfASourceIsForgottenInTime() {
        long now = System.nanoTime();
        known.note(7, HONEST, Standing.SERVED, now);
        known.note(7, OTHER, Standing.GAVE_WAY, now);

        assertThat(known.of(7, HONEST, now)).isEqualTo(Standing.SERVED);
        assertThat(known.of(7, OTHER, now)).isEqualTo(Standing.GAVE_WAY);
        assertThat(known.of(8, HONEST, now)).isEqualTo(Standing.NEW);
        known.note(7, OTHER, Standing.SLOW, now);
        known.note(7, OTHER, Standing.SERVED, now);
        assertThat(known.of(7, OTHER, now)).isEqualTo(Standing.SLOW);
        long later = now + Duration.ofMinutes(11).toNanos();
        assertThat(known.of(7, HONEST, later)).isEqualTo(Standing.NEW);
        known.note(7, OTHER, Standing.SERVED, later);
        assertThat(known.of(7, OTHER, later)).isEqualTo(Standing.SERVED);
    }

    @Test
    void placesThatAreGivenBackAreFree() {
        for (int i = 0; i < 100 * MAX; i++) {
            taken(source(STRANGERS + i)).close();
        }

        assertThat(places.used()).isZero();
        assertThat(places.sources()).isZero();
        assertThat(gaveWay).isEmpty();
    }
}
