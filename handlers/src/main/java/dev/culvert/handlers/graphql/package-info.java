/** GraphQL over HTTP for handlers. */
@NullMarked
package dev.culvert.handlers.graphql;

import org.jspecify.annotations.NullMarked;
