/** People, teams, rules and keys in the database. */
@NullMarked
package dev.culvert.platform.directory.store;

import org.jspecify.annotations.NullMarked;
