// What board-folders.ts loads with its first call, in one module: each module that is imported dynamically is a file of the package.
export { exportBoard, importBoard } from './import-export.ts'
export { mirrorBoard } from './mirror-board.ts'
