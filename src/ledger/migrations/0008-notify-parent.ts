// The policy that was called `notifyParent` is called `notifyParent`.
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
            `update task set policy = replace(policy, '"notifyParent":true', '"notifyParent":true')
             where policy like '%"notifyParent":true%'`,
          )
          .compile(db),
    } as Compilable,
  ],
}
