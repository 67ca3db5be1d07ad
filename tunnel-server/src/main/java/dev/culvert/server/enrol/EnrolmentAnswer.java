package dev.culvert.server.enrol;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.http.problem.ProblemDocument.Field;
import java.util.List;

/** The response to an enrolment: status, header fields and JSON, ready to be sent. */
public final class EnrolmentAnswer {
    private final int status;
    private final List<Field> fields;
    private final byte[] body;

    private EnrolmentAnswer(int status, List<Field> fields, byte[] body) {
        this.status = status;
        this.fields = fields;
        this.body = body;
    }

    /** Takes ownership of {@code json}. */
    static EnrolmentAnswer json(int status, byte[] json) {
        return new EnrolmentAnswer(status, List.of(new Field("content-type", "application/json"),
                new Field("content-length", Integer.toString(json.length)),
                new Field("cache-control", "no-store")),
                json);
    }

    static EnrolmentAnswer problem(Problem problem, String requestId) {
        ProblemDocument document = ProblemDocument.of(problem, requestId);
        return new EnrolmentAnswer(document.status(), document.fields(), document.body());
    }

    /** The HTTP status code. */
    public int status() {
        return status;
    }

    /** All header fields that belong to the body, lower-case names, {@code content-length} among them. */
    public List<Field> fields() {
        return fields;
    }

    /** The JSON, UTF-8. Borrowed: the caller must not change it. */
    public byte[] body() {
        return body;
    }
}
