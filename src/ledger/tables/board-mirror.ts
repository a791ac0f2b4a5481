// The mirror tables: who writes the files of a folder, and the texts that were written to them, by which an edit is told from
// what the mirror wrote itself.
import type { MirroredText } from '../../entities/board.ts'
import type { Tx } from '../ledger.ts'
import type { BoardFileTableRow, BoardMirrorTableRow } from '../schema.ts'
import { change, row, rows, type StatementCompiler } from '../statement.ts'

const toText = (stored: BoardFileTableRow): MirroredText => ({
  dir: stored.dir,
  number: stored.number,
  version: stored.version,
  text: stored.text,
})

export function createBoardMirrorTable(compiler: StatementCompiler): Tx['mirror'] {
  const { prepare } = compiler
  const selectHolder = prepare((db, hole) => db.selectFrom('board_mirror').selectAll().where('dir', '=', hole('dir')))
  const selectTexts = prepare((db, hole) =>
    db
      .selectFrom('board_file')
      .selectAll()
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
      .values({ dir: hole('dir'), number: hole('number'), version: hole('version'), text: hole('text') })
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
      const found = yield* row<BoardMirrorTableRow>(selectHolder, { dir })
      return found && { board: found.board, instanceId: found.instance_id, until: found.until }
    },
    *texts(dir, number, limit) {
      return (yield* rows<BoardFileTableRow>(selectTexts, { dir, number, limit })).map(toText)
    },
    *numbers(dir) {
      return (yield* rows<{ number: number }>(selectNumbers, { dir })).map((each) => each.number)
    },
    *hold(dir, board, instance, until) {
      yield* change(upsertHolder, { dir, board, instance, until })
    },
    *letGo(dir, instance) {
      yield* change(deleteHolder, { dir, instance })
    },
    *keep({ dir, number, version, text }) {
      yield* change(upsertText, { dir, number, version, text })
    },
    *forget(dir, number, before) {
      yield* change(deleteOlder, { dir, number, before: Math.min(before, Number.MAX_SAFE_INTEGER) })
    },
  }
}
