package dev.culvert.handlers.graphql;

import java.util.Map;

/**
 * What one handler adds to the schema. A handler that implements this beside {@link dev.culvert.handlers.spi.EdgeHandler} is
 * reached through GraphQL; one without a mount is reached through it alone.
 */
public interface GraphQlFunction {
    /** Its part of the schema, in GraphQL's schema language: own types, {@code extend type Query}, {@code extend type Mutation}. */
    String schema();

    /** What answers its root fields, keyed {@code Query.<field>} and {@code Mutation.<field>}: one for each it declares. */
    Map<String, GraphQlField> fields();
}
