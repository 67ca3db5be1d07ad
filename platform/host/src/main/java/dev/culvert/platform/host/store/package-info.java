/** The platform's database: the tables of all modules, the change feed and the outbox. */
@NullMarked
package dev.culvert.platform.host.store;

import org.jspecify.annotations.NullMarked;
