package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The work that lists in fields make: what callers choose is looked at to a bound. */
class FieldListTest {
    /** Few looks at each character of the part that counts. */
    private static final long MAX_LOOKS = 4L * FieldList.MAX_CHARS;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"a | a", "a,b | a;b", "' a\t, ,, b ,' | a;b", "'' | ''",
            "', ,' | ''",
            "a b , c | a b;c"})
    void membersComeTrimmedAndEmptyOnesNotAtAll(String text, String members) {
        var list = new FieldList(text);
        List<String> found = new ArrayList<>();
        while (list.next()) {
            found.add(list.member().toString());
        }

        assertThat(String.join(";", found)).isEqualTo(members);
        assertThat(list.isCut()).isFalse();
    }

    @Test
    void asManyMembersAsTheBoundAreWhole() {
        var list = new FieldList("a,".repeat(FieldList.MAX_MEMBERS - 1) + "b");
        int members = 0;
        while (list.next()) {
            members++;
        }

        assertThat(members).isEqualTo(FieldList.MAX_MEMBERS);
        assertThat(list.isCut()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "a,", "x", "a b ,"})
    void whatIsLongerIsCut(String part) {
        var text = new CountedText(part.repeat(56_000));
        var list = new FieldList(text);
        while (list.next()) {
            assertThat(list.from()).isLessThan(FieldList.MAX_CHARS);
        }

        assertThat(list.isCut()).isTrue();
        assertThat(text.seen()).isLessThan(MAX_LOOKS);
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "1.1 a,", "x", "1.1 \t a ,"})
    void aViaTooLongForAChainIsALoop(String part) {
        var via = new CountedText(part.repeat(56_000));
        Http2Headers head = new DefaultHttp2Headers(false);
        head.add("via", via);

        Problem refused = forward(head);

        assertThat(refused).isNotNull().extracting(Problem::cause).isEqualTo(Problem.Cause.LOOP_DETECTED);
        assertThat(via.seen()).isLessThan(MAX_LOOKS);
    }

    @Test
    void aLongButHonestViaPasses() {
        Http2Headers head = new DefaultHttp2Headers(false);
        head.add("via", String.join(", ", Collections.nCopies(40, "1.1 cache-17 (somewhere else)")));

        assertThat(forward(head)).isNull();
    }

    @Test
    void aConnectionOfTooManyNamesIs400() {
        var options = new CountedText("a,".repeat(30_000) + "x-secret");
        Http2Headers head = new DefaultHttp2Headers(false);
        head.add("connection", options).add("x-secret", "1");

        Problem refused = forward(head);

        assertThat(refused).isNotNull().extracting(Problem::cause).isEqualTo(Problem.Cause.BAD_REQUEST);
        assertThat(options.seen()).isLessThan(MAX_LOOKS);
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "text/html;q=0,", "text/html;q=1;", "x", "text/", " ;"})
    void acceptIsReadToItsBound(String part) {
        var accept = new CountedText("application/json;q=0.1, text/html," + part.repeat(20_000));

        assertThat(AcceptField.prefersHtml(accept)).isTrue();
        assertThat(accept.seen()).isLessThan(10L * MAX_LOOKS);
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "10.0.0.1,", "x", "10.0.0.1 ,"})
    void aTrustedProxysChainIsFollowedToItsBound(String part) {
        var rules = new ForwardingRules("gw-1", List.of(Cidr.parse("10.0.0.0/8")));
        var chain = new CountedText(part.repeat(56_000) + "10.0.0.1");

        String caller = rules.caller(peer(rules), List.of(chain));

        assertThat(caller).isEqualTo("10.0.0.1");
        assertThat(chain.seen()).isLessThan(MAX_LOOKS);
    }

    private static ForwardingRules.Peer peer(ForwardingRules rules) {
        return rules.peer(new InetSocketAddress("10.0.0.1", 1), "https", 8443, "1.1");
    }

    private static @Nullable Problem forward(Http2Headers head) {
        var rules = new ForwardingRules("gw-1", List.of());
        return rules.request(head, peer(rules), "a.example", false);
    }
}
