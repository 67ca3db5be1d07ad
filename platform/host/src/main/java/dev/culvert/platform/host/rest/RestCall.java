package dev.culvert.platform.host.rest;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One call of a module's API.
 *
 * @param template the template of its path
 * @param who the permitted callers
 * @param right what rules must allow; null unless it is for members
 * @param summary what it does, for {@code /openapi.json}
 * @param takes what its body and its query are
 * @param gives the record of its answer; null: 204
 * @param form how the answer holds it
 * @param work makes the response; its StoreExceptions become problems
 */
public record RestCall(HttpMethod method, PathTemplate template, Who who, @Nullable Right right,
        String summary, Takes takes, @Nullable Class<? extends Record> gives, Form form, Work work) {
    /** The callers whose credentials are accepted. */
    public enum Who {
        /**
         * Everybody: the call itself judges a secret, by {@link CallScope#judging}, or has none.
         */
        ANYONE,
        /** Any user or runtime. */
        HOLDER,
        /** A user whom the rules of the account allow it. Operators may name another account. */
        MEMBER,
        /** An administrator of the account. Operators may name another account: {@code ?account=ID}. */
        ADMIN,
        /** An operator: an administrator of all accounts. */
        OPERATOR,
        /** A runtime. */
        RUNTIME
    }

    /** How an answer holds its record. */
    public enum Form {
        /** 200 with one. */
        ONE,
        /** 201 with one. */
        CREATED,
        /** 200 with all: {@code {"items": […], "next": null}}. */
        LIST,
        /** As {@link #LIST}, a page at a time: {@code ?limit=}, and {@code ?next=} of the last page. */
        PAGES
    }

    /**
     * What a call reads beside its path.
     *
     * @param body the record of its JSON body; null: it has none
     * @param raw its body, if it is no such record
     * @param query the names of its query, beside those that callers and forms have
     * @param canForce whether {@code ?force=true} overrides a refusal
     */
    public record Takes(@Nullable Class<? extends Record> body, @Nullable RawBody raw, Set<String> query,
            boolean canForce) {
        private static final Takes NOTHING = new Takes(null, null, Set.of(), false);

        public Takes {
            query = Set.copyOf(query);
        }

        /** The largest body. */
        int maxBytes() {
            return raw == null ? JsonBodies.MAX_BYTES : raw.maxBytes();
        }
    }

    /** Makes the response to a call. */
    @FunctionalInterface
    public interface Work {
        Mono<? extends EdgeResponse> answer(CallScope scope);
    }

    /** A call without a body that answers 204. */
    public static RestCall of(HttpMethod method, String path, Who who, String summary, Work work) {
        return new RestCall(method, new PathTemplate(path), who, null, summary, Takes.NOTHING, null, Form.ONE,
                work);
    }

    /** A call for members without a body that answers 204. */
    public static RestCall of(HttpMethod method, String path, Right right, String summary, Work work) {
        return new RestCall(method, new PathTemplate(path), Who.MEMBER, right, summary, Takes.NOTHING, null,
                Form.ONE, work);
    }

    private RestCall taking(Takes other) {
        return new RestCall(method, template, who, right, summary, other, gives, form, work);
    }

    private RestCall giving(Class<? extends Record> answer, Form how) {
        return new RestCall(method, template, who, right, summary, takes, answer, how, work);
    }

    /** This call with a body. */
    public RestCall takes(Class<? extends Record> body) {
        return taking(new Takes(body, null, takes.query(), takes.canForce()));
    }

    /** This call with a body that it reads itself. */
    public RestCall takes(RawBody body) {
        return taking(new Takes(null, body, takes.query(), takes.canForce()));
    }

    /** This call with a query: {@link CallScope#query}. Others than these names are refused. */
    public RestCall asks(String... names) {
        return taking(new Takes(takes.body(), takes.raw(), Set.of(names), takes.canForce()));
    }

    /** This call with an answer. */
    public RestCall gives(Class<? extends Record> answer) {
        return giving(answer, Form.ONE);
    }

    /** This call with an answer of 201. */
    public RestCall creates(Class<? extends Record> made) {
        return giving(made, Form.CREATED);
    }

    /** This call with an answer that lists these. */
    public RestCall lists(Class<? extends Record> item) {
        return giving(item, Form.LIST);
    }

    /** This call with an answer that lists these a page at a time: {@link CallScope#page}. */
    public RestCall pages(Class<? extends Record> item) {
        return giving(item, Form.PAGES);
    }

    /** This call, which {@code ?force=true} makes do what it would refuse. */
    public RestCall forcible() {
        return taking(new Takes(takes.body(), takes.raw(), takes.query(), true));
    }

    boolean creates() {
        return form == Form.CREATED;
    }

    /** Whether operators may name another account. */
    boolean isOfAccounts() {
        return who == Who.ADMIN || who == Who.MEMBER;
    }

    /** Whether it changes what others see, which is audited. */
    boolean changes() {
        return (who == Who.OPERATOR || isOfAccounts()) && !method.equals(HttpMethod.GET);
    }
}
