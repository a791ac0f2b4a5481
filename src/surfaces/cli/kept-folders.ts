// The folders that show a board, in step with it while somebody works on the board from here: what was edited in their files is
// done on the board first, and what is done on the board is written to them after.
import type { Engine } from '../../api.ts'
import type { BoardMirror } from '../../board/mirror/mirror-board.ts'
import type { MirrorReport } from '../../board/mirror/mirror-report.ts'
import { messageOf } from '../../stored-error.ts'
import { type CommandIo, note } from './io.ts'
import { tellUntaken } from './mirror-words.ts'

/** Does something with the board between two looks at its folders; the second only where something has been done. */
export async function inStep<T>(io: CommandIo, engine: Engine, work: () => Promise<T>): Promise<T> {
  const { knownFolders, lastEvent } = await import('../../board/mirror/known-folders.ts')
  const folders = await knownFolders(engine)
  if (folders.length === 0) return work()
  const sync = async (): Promise<void> => {
    for (const folder of folders) await syncOnce(io, engine, folder)
  }
  await sync()
  const before = await lastEvent(engine)
  try {
    return await work()
  } finally {
    if ((await lastEvent(engine)) > before) await sync()
  }
}

async function syncOnce(io: CommandIo, engine: Engine, folder: { board: string; dir: string }): Promise<void> {
  const { mirrorBoard } = await import('../../index.ts')
  try {
    await using mirror = await mirrorBoard(engine, { ...folder, watch: false })
    tellUntaken(io, await mirror.sync())
  } catch (error) {
    // The board is right all the same.
    note(io, `${folder.dir} is not in step: ${messageOf(error)}`)
  }
}

/** Keeps them in step until the mirrors that it resolves to are closed. */
export async function keepFolders(io: CommandIo, engine: Engine): Promise<BoardMirror[]> {
  const { knownFolders } = await import('../../board/mirror/known-folders.ts')
  const { mirrorBoard } = await import('../../index.ts')
  const mirrors: BoardMirror[] = []
  for (const folder of await knownFolders(engine)) {
    try {
      mirrors.push(
        await mirrorBoard(engine, { ...folder, onReport: (report: MirrorReport) => tellUntaken(io, report) }),
      )
    } catch (error) {
      note(io, `${folder.dir} is not kept in step: ${messageOf(error)}`)
    }
  }
  return mirrors
}
