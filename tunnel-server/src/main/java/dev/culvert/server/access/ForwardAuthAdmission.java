package dev.culvert.server.access;

import dev.culvert.config.Reason;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.http.net.OutboundCalls.Answer;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.Admission;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.Verdict;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * Asks a service about each request, as nginx's {@code auth_request} and Traefik's {@code forwardAuth} do.
 * 2xx admits the request. 3xx and 4xx are passed on to the caller. Without an answer the request is refused.
 */
final class ForwardAuthAdmission implements Admission {
    /**
     * The maximum number of requests that wait for the service of one rule, shared by the source addresses of
     * their callers; later answers would be of no use.
     */
    static final int MAX_WAITING = 200;
    /** The maximum size of an answer: enough for a login page. Larger ones belong behind a redirect. */
    static final int MAX_ANSWER_BYTES = 64 << 10;
    private static final Duration RETRY = Duration.ofSeconds(5);
    private static final Problem CROWDED = Problem
            .of(Cause.OVERLOADED, Hop.EDGE, "too many requests wait to be let in")
            .retryAfter(RETRY);
    private static final Logger log = LoggerFactory.getLogger(ForwardAuthAdmission.class);

    private final Requirement.ForwardAuth rule;
    private final OutboundCalls calls;
    private final Quota<SourceAddress> waiting = new Quota<>(MAX_WAITING);

    ForwardAuthAdmission(Requirement.ForwardAuth rule, OutboundCalls calls) {
        this.rule = rule;
        this.calls = calls;
    }

    @Override
    public Runnable admit(RelayRequest request, Verdict verdict) {
        Disposable.Swap asking = Disposables.swap();
        Quota<SourceAddress>.Claim place = waiting.tryOpen(request.caller().account(), 1, () -> {
            asking.dispose();
            verdict.refuse(CROWDED);
        });
        if (place == null) {
            verdict.refuse(CROWDED);
            return DECIDED;
        }
        // Copied now: the request's fields belong to its event loop, and change owner later.
        Map<String, List<CharSequence>> shown = ForwardedQuestion.of(request.fields(), rule.requestFields());
        rule.responseFields().forEach(request.fields()::remove); // only the service may set them
        asking.update(calls
                .get(rule.url(), fields -> shown.forEach(fields::set), MAX_ANSWER_BYTES, rule.timeout())
                .flatMap(ForwardAuthAdmission::decided)
                .doFinally(done -> place.close())
                .subscribe(answer -> tell(answer, verdict), failed -> unanswered(failed, verdict)));
        return asking::dispose;
    }

    /** Treats other statuses as failures, so a failing service admits no request. */
    private static Mono<Answer> decided(Answer answer) {
        boolean useful = answer.status() >= 200 && answer.status() < 500 && answer.status() != 304;
        return useful
                ? Mono.just(answer)
                : Mono.error(new IllegalStateException("it answered " + answer.status()));
    }

    private void tell(Answer answer, Verdict verdict) {
        if (answer.status() < 300) {
            verdict.pass(taken(answer.fields()));
        } else {
            verdict.answer(passedOn(answer), answer.body());
        }
    }

    private Http2Headers taken(HttpHeaders answered) {
        Http2Headers fields = new DefaultHttp2Headers(false, rule.responseFields().size());
        rule.responseFields().forEach(name -> fields.set(name, answered.getAll(name)));
        return fields;
    }

    private static Http2Headers passedOn(Answer answer) {
        Http2Headers head = new DefaultHttp2Headers(false, answer.fields().size() + 1);
        head.status(Integer.toString(answer.status()));
        answer.fields().forEach(field -> head.add(field.getKey().toLowerCase(Locale.ROOT), field.getValue()));
        ForwardingRules.response(head, false);
        head.remove("content-length");
        return head;
    }

    private void unanswered(Throwable failed, Verdict verdict) {
        log.atDebug()
                .addKeyValue("service", rule.url().getAuthority())
                .addKeyValue("reason", Reason.of(failed))
                .log("a service that decides who may pass did not answer");
        verdict.refuse(
                Problem.of(Cause.OVERLOADED, Hop.EDGE,
                        "the service that decides who may pass does not answer")
                        .retryAfter(RETRY));
    }
}
