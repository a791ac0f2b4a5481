// Renames the policy `tellParent` to `notifyParent`.
import { type Compilable, sql } from 'kysely'
import type { Migration } from './migration.ts'

export const notifyParent: Migration = {
  name: 'notify parent',
  statements: ({ db }) => [
    {
      // Within a text of the policy the quotes are escaped, so this is found as a key alone.
      compile: () =>
        sql
          .raw(
            `update task set policy = replace(policy, '"tellParent":true', '"notifyParent":true')
             where policy like '%"tellParent":true%'`,
          )
          .compile(db),
    } as Compilable,
  ],
}
