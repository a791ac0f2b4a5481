// The mirror tables: which process writes the files of a folder, and the texts that it wrote, which distinguish an edit from its own
// writes.

import type { Tx } from '../../ledger.ts'
import { column, row, type StatementCompiler, sql, write } from '../../statement.ts'
import { defineTable, plain, statementsOf } from '../../table-mapping.ts'

const texts = defineTable('board_file', { dir: plain, number: plain, version: plain, text: plain })

export function createBoardMirrorTable(compiler: StatementCompiler): Tx['mirror'] {
  const { prepare, prepareText } = compiler
  const { select, upsert } = statementsOf(compiler, texts)
  const selectHolder = prepareText(
    (hole) => sql`select board, instance_id as "instanceId", until from board_mirror where dir = ${hole('dir')}`,
  )
  const selectTexts = select((text, hole) =>
    text
      .where('dir', '=', hole('dir'))
      .where('number', '=', hole('number'))
      .orderBy('version', 'desc')
      .limit(hole('limit')),
  )
  const selectNumbers = prepare((db, hole) =>
    db.selectFrom('board_file').select('number').distinct().where('dir', '=', hole('dir')).orderBy('number', 'asc'),
  )
  const upsertHolder = prepareText(
    { changes: 'board_mirror' },
    (hole) => sql`insert into board_mirror (dir, board, instance_id, until)
      values (${hole('dir')}, ${hole('board')}, ${hole('instance')}, ${hole('until')})
      on conflict (dir) do update set
        board = excluded.board, instance_id = excluded.instance_id, until = excluded.until`,
  )
  const deleteHolder = prepare((db, hole) =>
    db.deleteFrom('board_mirror').where('dir', '=', hole('dir')).where('instance_id', '=', hole('instance')),
  )
  const upsertText = upsert(['dir', 'number', 'version'], ['text'])
  const deleteOlder = prepare((db, hole) =>
    db
      .deleteFrom('board_file')
      .where('dir', '=', hole('dir'))
      .where('number', '=', hole('number'))
      .where('version', '<', hole('before')),
  )

  return {
    holder: (dir) => row(selectHolder, { dir }),
    texts: (dir, number, limit) => texts.list(selectTexts, { dir, number, limit }),
    numbers: (dir) => column(selectNumbers, { dir }),
    hold: (dir, board, instance, until) => write(upsertHolder, { dir, board, instance, until }),
    release: (dir, instance) => write(deleteHolder, { dir, instance }),
    keep: (text) => write(upsertText, text),
    forget: (dir, number, before) =>
      write(deleteOlder, { dir, number, before: Math.min(before, Number.MAX_SAFE_INTEGER) }),
  }
}
