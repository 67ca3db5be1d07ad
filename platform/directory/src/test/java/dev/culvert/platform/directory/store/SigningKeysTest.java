package dev.culvert.platform.directory.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.nimbusds.jwt.SignedJWT;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.directory.wrapping.WrappingKeyFile;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

@ParameterizedClass
@EnumSource
class SigningKeysTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final String ACCOUNT = "6791f6184c56bd51c65784a2";

    @TempDir
    Path folder;

    private final MovableClock clock = new MovableClock();
    private final Engine engine;
    private DirectoryFile open;
    private Directory directory;
    private SigningKeys keys;
    private KeyOwner jo;

    SigningKeysTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open() {
        start();
        get(directory.addAccount(ACCOUNT, "acme"));
        String user = get(directory.addUser(ACCOUNT, "Jo", "jo@acme.test", false)).id();
        get(directory.addKey(ACCOUNT, null, "prod", "runtime", null));
        jo = get(directory.holder(get(directory.addKey(ACCOUNT, user, null, "laptop", null)).text()
                .reveal()));
    }

    private void start() {
        open = DirectoryFile.open(engine, folder.resolve("directory.db"), DirectoryLimits.defaults(), clock);
        directory = open.directory();
        keys = open.signing();
    }

    @AfterEach
    void close() {
        open.close();
    }

    @Test
    void aTokenNamesItsKeyAndLivesAnHour() throws ParseException {
        RuntimeTokens.Issued issued = issue(3600);

        SignedJWT jwt = SignedJWT.parse(issued.token());
        assertThat(jwt.getHeader().getKeyID()).isEqualTo(kids().getFirst());
        assertThat(jwt.getJWTClaimsSet().getStringClaim("key")).isEqualTo(jo.key().id());
        assertThat(holder(issued)).isNotNull();
        clock.advance(Duration.ofSeconds(3599));
        assertThat(holder(issued)).isNotNull();
        clock.advance(Duration.ofSeconds(1));
        assertThat(holder(issued)).isNull();
    }

    /** Who holds a secret can't make tokens that outlive it. */
    @Test
    void aLongTokenIsRefusedThoughItIsSigned() {
        SigningKeys.Unwrapped secret = get(keys.unwrap(kids().getFirst()));
        long now = directory.now();

        assertThat(holder(signed(secret, now, now + 3600))).isNotNull();
        assertThat(holder(signed(secret, now, now + 3601))).isNull();
        assertThat(holder(signed(secret, now, now + Duration.ofDays(3650).toSeconds()))).isNull();
        assertThat(holder(signed(secret, now + 120, now + 3600))).isNull();
        assertThat(holder(signed(secret, Long.MIN_VALUE / 1000, now + 60))).isNull();
        assertThat(holder(new RuntimeTokens.Issued(issue(60).token() + "A", "prod", 0))).isNull();
    }

    @Test
    void aRevokedKeyEndsItsTokens() {
        RuntimeTokens.Issued issued = issue(3600);

        get(directory.removeKey(ACCOUNT, jo.key().id(), false));

        assertThat(holder(issued)).isNull();
    }

    @Test
    void aTokenEndsNoLaterThanItsKey() {
        String user = Objects.requireNonNull(jo.user()).id();
        KeyOwner brief = get(directory.holder(
                get(directory.addKey(ACCOUNT, user, null, "brief", directory.now() + 60)).text().reveal()));

        RuntimeTokens.Issued issued = get(directory.issueToken(brief, "prod", 3600));

        assertThat(issued.expires()).isEqualTo(directory.now() + 60);
        clock.advance(Duration.ofSeconds(60));
        assertThat(holder(issued)).isNull();
    }

    @Test
    void aRemovedUserEndsTheirTokens() {
        RuntimeTokens.Issued issued = issue(3600);

        directory.removeUser(ACCOUNT, Objects.requireNonNull(jo.user()).id(), false).block(TIME);

        assertThat(holder(issued)).isNull();
    }

    @Test
    void aNewKeySignsWhenAllKnowItAndTheOldVerifies() {
        RuntimeTokens.Issued before = issue(3600);
        String kid = get(keys.rotate(false, false)).kid();

        assertThat(kidOf(issue(60))).isNotEqualTo(kid);
        clock.advance(Duration.ofSeconds(SigningKeys.SIGNS_AFTER_SECONDS));
        RuntimeTokens.Issued after = issue(60);
        assertThat(kidOf(after)).isEqualTo(kid);
        assertThat(holder(before)).isNotNull();
        assertThat(holder(after)).isNotNull();

        // A token of a process whose clock is late, and one that was forged with the old secret.
        long now = directory.now();
        SigningKeys.Unwrapped old = get(keys.unwrap(kidOf(before)));
        clock.advance(Duration.ofSeconds(90));
        assertThat(holder(signed(old, now + 30, now + 3000))).isNotNull();
        assertThat(holder(signed(old, now + 90, now + 3000))).isNull();
    }

    /** Their clocks differ by hours; that of the database, which they share, counts. */
    @Test
    void aWrongClockEndsNoKeyOfOthers() {
        assumeTrue(engine == Engine.POSTGRES);
        String first = kids().getFirst();
        for (int hours : List.of(0, 2, -2, 0)) {
            Clock own = Clock.offset(Clock.systemUTC(), Duration.ofHours(hours));
            get(new SigningKeys(open.store(), new WrappingKeyFile(folder.resolve("token.key")), own)
                    .rotate(false, false));
        }

        assertThat(kids()).hasSize(5).contains(first);
    }

    @Test
    void anOldKeyLeavesWhenItsTokensHaveEnded() {
        String first = kids().getFirst();
        get(keys.rotate(false, false));
        clock.advance(Duration.ofSeconds(3600 + SigningKeys.SKEW_SECONDS + SigningKeys.SIGNS_AFTER_SECONDS));

        get(keys.rotate(false, false));

        assertThat(kids()).hasSize(2).doesNotContain(first);
    }

    @Test
    void endingTheOthersEndsAllTokensAtOnce() {
        RuntimeTokens.Issued before = issue(3600);

        String kid = get(keys.rotate(true, false)).kid();

        assertThat(kids()).containsExactly(kid);
        assertThat(holder(before)).isNull();
        assertThat(kidOf(issue(60))).isEqualTo(kid);
    }

    @Test
    void rotationsHaveABound() {
        for (int i = 1; i < SigningKeys.MAX_KEYS; i++) {
            get(keys.rotate(false, false));
        }

        assertThatThrownBy(() -> keys.rotate(false, false).block(TIME))
                .isInstanceOf(StoreException.Full.class);
        assertThat(get(keys.rotate(true, false))).isNotNull();
    }

    /** The second has another cache over the same tables, as another process. */
    @Test
    void anotherProcessKnowsANewKeyAtOnce() {
        var other = new SigningKeys(new CountingStore(open.store(), new AtomicLong(), new AtomicLong()),
                new WrappingKeyFile(folder.resolve("token.key")), clock);
        other.open(false).block(TIME);
        String kid = get(other.rotate(false, false)).kid();
        clock.advance(Duration.ofSeconds(SigningKeys.SIGNS_AFTER_SECONDS));

        assertThat(kidOf(issue(60))).isEqualTo(kid);
        assertThat(holder(signed(get(other.unwrap(kid)), directory.now(), directory.now() + 9))).isNotNull();
    }

    @Test
    void aNewWrappingKeyWrapsAllAtTheNextRotation() throws IOException {
        RuntimeTokens.Issued before = issue(3600);
        Path file = folder.resolve("token.key");
        String added = new WrappingKeyFile(file).renew(Set.of());
        assertThat(get(keys.list())).noneMatch(key -> key.wrappedBy().equals(added));

        get(keys.rotate(false, false));

        assertThat(get(keys.list())).hasSize(2).allMatch(key -> key.wrappedBy().equals(added));
        Files.writeString(file, Files.readAllLines(file).getFirst());
        assumeTrue(engine == Engine.SQLITE); // the same database again
        close();
        start();
        assertThat(holder(before)).isNotNull();
    }

    @Test
    void aRotationMayRenewTheWrappingKeyWhereItIsAlone() throws IOException {
        RuntimeTokens.Issued before = issue(3600);

        String by = get(keys.rotate(false, true)).wrappedBy();

        assertThat(Files.readAllLines(folder.resolve("token.key"))).hasSize(2);
        assertThat(get(keys.list())).hasSize(2).allMatch(key -> key.wrappedBy().equals(by));
        assertThat(holder(before)).isNotNull();
        var shared = new SigningKeys(open.store(), new WrappingKeyFile(folder.resolve("token.key")), clock);
        shared.open(false).block(TIME);
        assertThatThrownBy(() -> shared.rotate(false, true).block(TIME))
                .isInstanceOf(StoreException.Conflict.class);
    }

    /** The file holds 16 keys: one that wraps must not be pushed out by those that wrap nothing. */
    @Test
    void aRefusedRotationLeavesTheWrappingKeys() throws IOException {
        for (int i = 1; i < SigningKeys.MAX_KEYS; i++) {
            get(keys.rotate(false, false));
        }
        String before = Files.readString(folder.resolve("token.key"));

        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> keys.rotate(false, true).block(TIME))
                    .isInstanceOf(StoreException.Full.class);
        }

        assertThat(Files.readString(folder.resolve("token.key"))).isEqualTo(before);
    }

    @Test
    void withoutItsFileTokensEnd() throws IOException {
        assumeTrue(engine == Engine.SQLITE); // the same database again
        RuntimeTokens.Issued before = issue(3600);
        close();
        Files.delete(folder.resolve("token.key"));

        start();

        assertThat(holder(before)).isNull();
        assertThat(holder(issue(60))).isNotNull();
        assertThat(kids()).hasSize(1);
    }

    /** Where several processes share a database, a new file would end the tokens of the others. */
    @Test
    void withoutItsFileAProcessOfSeveralDoesNotStart() throws IOException {
        Path file = folder.resolve("token.key");
        Files.delete(file);
        var other = new SigningKeys(open.store(), new WrappingKeyFile(file), clock);

        assertThatThrownBy(() -> other.open(false).block(TIME)).isInstanceOf(WrappingException.class)
                .hasMessageContaining("token.key");
        assertThat(file).doesNotExist();
    }

    @Test
    void madeUpKeysAreNobodys() {
        RuntimeTokens.Issued genuine = issue(60);
        for (String kid : List.of("", "0000000000000000", "' OR 1=1", "../../token.key")) {
            String[] parts = genuine.token().split("\\.", -1);
            String header = Base64.getUrlEncoder()
                    .withoutPadding()
                    .encodeToString(("{\"alg\":\"HS256\",\"kid\":\"" + kid + "\"}")
                            .getBytes(StandardCharsets.UTF_8));
            assertThat(holder(new RuntimeTokens.Issued(header + "." + parts[1] + "." + parts[2], "prod", 0)))
                    .isNull();
        }
        assertThat(holder(genuine)).isNotNull();
    }

    private List<String> kids() {
        return get(keys.list()).stream().map(SigningKeys.View::kid).toList();
    }

    private RuntimeTokens.Issued issue(int seconds) {
        return get(directory.issueToken(jo, "prod", seconds));
    }

    private RuntimeTokens.Issued signed(SigningKeys.Unwrapped secret, long issued, long expires) {
        return RuntimeTokens.issue(secret, new RuntimeTokens.Claims(ACCOUNT,
                Objects.requireNonNull(jo.user()).id(), jo.key().id(), "prod", issued, expires));
    }

    private static String kidOf(RuntimeTokens.Issued issued) {
        return Objects.requireNonNull(RuntimeTokens.parse(issued.token())).kid();
    }

    private RuntimeTokens.@Nullable Known holder(RuntimeTokens.Issued issued) {
        return directory.tokenOf(ACCOUNT, "prod", issued.token()).block(TIME);
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(TIME));
    }
}
