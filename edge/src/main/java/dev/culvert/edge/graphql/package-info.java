/**
 * GraphQL over HTTP for the handlers plane: functions add fields to one schema, each answered by a call of its own. Start
 * with {@link dev.culvert.edge.graphql.GraphQlFunction}.
 */
@NullMarked
package dev.culvert.edge.graphql;

import org.jspecify.annotations.NullMarked;
