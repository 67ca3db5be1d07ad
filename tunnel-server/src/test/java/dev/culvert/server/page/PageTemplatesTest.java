package dev.culvert.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxEvent;
import dev.culvert.inbox.model.SourceBacklog;
import dev.culvert.inbox.model.WebhookHead;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.store.AuditEntry;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.web.Templates;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates with hostile texts in every field that somebody else writes. */
class PageTemplatesTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");
    private static final String HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>";

    private final Templates templates = Templates.of("culvert.pages.server", OperatorPages.class);

    private String html(String template, Object model) {
        return new String(templates.bytes(template, model), StandardCharsets.UTF_8);
    }

    private static void assertInert(String html) {
        assertThat(html).contains("&lt;script&gt;")
                .doesNotContain("<script", "<img")
                .doesNotContainPattern("=\"[^\"<>]*\"&gt;");
    }

    private static InboxEntry entry(WebhookState state) {
        return new InboxEntry(HOSTILE, "r", HOSTILE, HOSTILE, HOSTILE, HOSTILE, 12, HOSTILE, state, 3, 2, NOW,
                true,
                HOSTILE, NOW, NOW, true);
    }

    @Test
    void webhooksAreInert() {
        assertInert(html("webhooks.jte",
                new WebhookList(List.of(WebhookList.Row.of(entry(WebhookState.DEAD), HOSTILE)),
                        HOSTILE, HOSTILE, HOSTILE, "", true, "/webhooks?next=" + RuntimeList.encoded(HOSTILE),
                        true,
                        "token")));
    }

    @Test
    void webhookThatCanBeSentAgainHasItsButton() {
        var dead = WebhookList.Row.of(entry(WebhookState.DEAD), "acme/prod");
        var pending = WebhookList.Row.of(entry(WebhookState.PENDING), "acme/prod");

        assertThat(html("webhooks.jte", list(List.of(dead), true))).contains(">Replay</a>",
                "href=\"/webhooks/", "/replay?state=dead", "data-ask", "out of order");
        assertThat(html("webhooks.jte", list(List.of(pending), true))).doesNotContain(">Replay</a>");
        assertThat(html("webhooks.jte", list(List.of(dead), false))).doesNotContain(">Replay</a>");
    }

    private static WebhookDetail detail(byte[] body, long size) {
        Http2Headers fields = new DefaultHttp2Headers(false).add("content-type", "application/json")
                .add("user-agent", HOSTILE)
                .add("authorization", "Bearer s3cret")
                .add("x-hub-signature-256", "sha256=s3cret")
                .add("x-own-token", "s3cret");
        return new WebhookDetail(WebhookList.Row.of(entry(WebhookState.DEAD), "acme/prod"),
                WebhookDetail.Content.of(new WebhookHead(fields, body, size)), true, true,
                List.of(EventRow.of(new ServerEvent.OfWebhook(NOW, null,
                        new InboxEvent(InboxEvent.Kind.FAILED, "id", "r", HOSTILE, 2, "upstream-refused")))));
    }

    @Test
    void aWebhooksPageShowsItsContentWithoutSecrets() {
        byte[] body = ("{\"a\":\"" + HOSTILE + "\"}\u202e\u0007").getBytes(StandardCharsets.UTF_8);
        String html = html("webhook.jte", detail(body, 9000));

        assertInert(html);
        assertThat(html).contains("application/json", "x-hub-signature-256", "not shown: may hold a secret",
                "The first", "of 8.8 KiB.", "Dead since", "upstream-refused", "2 attempts")
                .doesNotContain("s3cret", "\u202e", "\u0007");
    }

    @Test
    void aWebhooksBodyThatIsNoTextIsNotShown() {
        assertThat(html("webhook.jte", detail(new byte[]{1, 0, 2}, 3)))
                .contains("3 B that are no plain text.")
                .doesNotContain("<pre");
        assertThat(html("webhook.jte", detail(new byte[0], 0))).contains("It has no body.");
    }

    @Test
    void aReaderDoesNotSeeAWebhooksContent() {
        String html = html("webhook.jte", new WebhookDetail(
                WebhookList.Row.of(entry(WebhookState.DELIVERED), "acme/prod"), null, false, false,
                List.of()));

        assertThat(html).contains("of the role <code>operate</code>").doesNotContain(">Replay</a>");
    }

    @Test
    void sourcesWithUndeliveredWebhooksAreListed() {
        var source = WebhookList.Source.of(new SourceBacklog("r", "argo/push", 12, 3, NOW, NOW), "acme/prod");

        assertThat(html("webhooks.jte", new WebhookList(List.of(), List.of(source), "", "", "", "", false, "",
                false, "token"))).contains("Dead since", ">12</td>", ">3</td>",
                        "/webhooks?state=&amp;runtime=acme%2Fprod&amp;source=argo%2Fpush");
    }

    @Test
    void replayOfManyTellsWhatItTakes() {
        var dead = List.of(WebhookList.Row.of(entry(WebhookState.DEAD), "acme/prod"));

        assertThat(html("webhooks.jte", list(dead, true))).contains("Replay all of these");
        assertThat(html("webhooks.jte", new WebhookList(dead, "", "acme/prod", "argo/push", "", false, "",
                true, "token"))).contains("Replay all dead of this source");
        assertThat(html("webhooks.jte", new WebhookList(dead, "pending", "acme/prod", "argo/push", "", false,
                "", true, "token"))).doesNotContain("Replay all");
    }

    @Test
    void replayOfManyTellsWhatItDid() {
        var first = new WebhookPages.Replayed(100, 2, "100", "", 0);

        assertThat(first.plus(new WebhookPages.Replayed(40, 0, null, "", 0)).words())
                .isEqualTo("140 webhooks are replayed; 2 skipped: their content is not kept.");
        assertThat(first.plus(WebhookPages.Replayed.failed("the store is busy", 40)).words()).isEqualTo(
                "100 webhooks are replayed; 2 skipped: their content is not kept; 40 remain: the store is busy");
    }

    private static WebhookList list(List<WebhookList.Row> rows, boolean mayReplay) {
        return new WebhookList(rows, "dead", "acme/prod", "argo/push", "", false, "", mayReplay, "token");
    }

    @Test
    void eventsAreInert() {
        assertInert(html("eventRow.jte", EventRow.of(new ServerEvent.OfTunnel(NOW, ServerEvent.Kind.CONNECTED,
                new RuntimeName("acme", "prod"), "s", 1, HOSTILE, HOSTILE))));
        assertInert(html("eventRow.jte", EventRow.of(new ServerEvent.OfWebhook(NOW, null,
                new InboxEvent(InboxEvent.Kind.FAILED, "id", "r", HOSTILE, 2, HOSTILE)))));
    }

    @Test
    void troubleIsShownWithoutRuntimesToo() {
        var trouble = new Trouble(true, "Webhooks: the disk is full", "Look at the disk of dataDir.", "");

        assertThat(html("overviewLive.jte",
                new Overview(List.of(trouble), 0, 0, Map.of(), List.of(), List.of(), List.of(), "1-2")))
                .contains("the disk is full");
        assertThat(html("overviewLive.jte",
                new Overview(List.of(), 0, 0, Map.of(), List.of(), List.of(), List.of(), "1-2")))
                .contains("No runtimes yet");
    }

    @Test
    void auditEntriesAreInert() {
        assertInert(html("audit.jte", new AuditList(
                List.of(new AuditEntry(NOW, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)), true,
                "/audit?next=1")));
    }

    @Test
    void questionsAreInert() {
        assertInert(html("confirm.jte", new Confirmation(HOSTILE, HOSTILE, HOSTILE, true, "/x", "/y",
                Map.of("session", HOSTILE), "token")));
    }

    @Test
    void commandsAreInert() {
        assertInert(html("enrol.jte",
                Enrolment.of("acme/prod", HOSTILE, HOSTILE, HOSTILE, RuntimeState.NEW, "1-2", "token")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"src/main/jte", "../web/src/main/jte"})
    void noTemplateLeavesTheEscapingOut(String folder) throws IOException {
        try (var files = Files.list(Path.of(folder))) {
            assertThat(files.toList()).isNotEmpty()
                    .allSatisfy(file -> assertThat(Files.readString(file)).doesNotContain("$unsafe", "!{",
                            " style=", " onclick"));
        }
    }
}
