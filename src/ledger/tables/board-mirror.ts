// The mirror tables: who writes the files of a folder, and the texts that were written to them, by which an edit is told from
// what the mirror wrote itself.
import { defineTable, plain, statementsOf } from '../columns.ts'
import type { Tx } from '../ledger.ts'
import { row, rows, type StatementCompiler, write } from '../statement.ts'

const texts = defineTable('board_file', { dir: plain, number: plain, version: plain, text: plain })

export function createBoardMirrorTable(compiler: StatementCompiler): Tx['mirror'] {
  const { prepare } = compiler
  const selectHolder = prepare((db, hole) => db.selectFrom('board_mirror').selectAll().where('dir', '=', hole('dir')))
  const selectTexts = statementsOf(compiler, texts).select((text, hole) =>
    text
      .where('dir', '=', hole('dir'))
      .where('number', '=', hole('number'))
      .orderBy('version', 'desc')
      .limit(hole('limit')),
  )
  const selectNumbers = prepare((db, hole) =>
    db.selectFrom('board_file').select('number').distinct().where('dir', '=', hole('dir')).orderBy('number', 'asc'),
  )
  const upsertHolder = prepare((db, hole) =>
    db
      .insertInto('board_mirror')
      .values({ dir: hole('dir'), board: hole('board'), instance_id: hole('instance'), until: hole('until') })
      .onConflict((conflict) =>
        conflict.column('dir').doUpdateSet({
          board: (query) => query.ref('excluded.board'),
          instance_id: (query) => query.ref('excluded.instance_id'),
          until: (query) => query.ref('excluded.until'),
        }),
      ),
  )
  const deleteHolder = prepare((db, hole) =>
    db.deleteFrom('board_mirror').where('dir', '=', hole('dir')).where('instance_id', '=', hole('instance')),
  )
  const upsertText = prepare((db, hole) =>
    db
      .insertInto('board_file')
      .values(texts.holes(hole))
      .onConflict((conflict) =>
        conflict.columns(['dir', 'number', 'version']).doUpdateSet({ text: (query) => query.ref('excluded.text') }),
      ),
  )
  const deleteOlder = prepare((db, hole) =>
    db
      .deleteFrom('board_file')
      .where('dir', '=', hole('dir'))
      .where('number', '=', hole('number'))
      .where('version', '<', hole('before')),
  )

  return {
    *holder(dir) {
      const found = yield* row<{ board: string; instance_id: string; until: number }>(selectHolder, { dir })
      return found && { board: found.board, instanceId: found.instance_id, until: found.until }
    },
    texts: (dir, number, limit) => texts.list(selectTexts, { dir, number, limit }),
    *numbers(dir) {
      return (yield* rows<{ number: number }>(selectNumbers, { dir })).map((each) => each.number)
    },
    hold: (dir, board, instance, until) => write(upsertHolder, { dir, board, instance, until }),
    release: (dir, instance) => write(deleteHolder, { dir, instance }),
    keep: (text) => write(upsertText, text),
    forget: (dir, number, before) =>
      write(deleteOlder, { dir, number, before: Math.min(before, Number.MAX_SAFE_INTEGER) }),
  }
}
