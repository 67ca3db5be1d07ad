package dev.culvert.web;

import dev.culvert.handlers.rest.PathTemplate;
import io.netty.handler.codec.http.HttpMethod;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/**
 * A page, or an action of one. It is called for people who have logged in; an action (POST) only with the
 * session's token in its form, from a page of the same origin.
 *
 * @param method GET, which answers HEAD too, or POST
 * @param template the template of its path
 * @param call makes the answer
 */
public record PageRoute(HttpMethod method, PathTemplate template, Call call) {
    /** Makes the answer to a request. Errors become a page with the problem's text. */
    @FunctionalInterface
    public interface Call {
        Mono<PageAnswer> answer(PageRequest request);
    }

    /** This page or action, with its errors as {@code problems} translates them. */
    public PageRoute translating(UnaryOperator<Throwable> problems) {
        return new PageRoute(method, template,
                request -> Mono.defer(() -> call.answer(request)).onErrorMap(problems));
    }

    /** A page. */
    public static PageRoute get(String template, Call call) {
        return new PageRoute(HttpMethod.GET, new PathTemplate(template), call);
    }

    /** An action. */
    public static PageRoute post(String template, Call call) {
        return new PageRoute(HttpMethod.POST, new PathTemplate(template), call);
    }
}
