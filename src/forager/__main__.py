from forager.cli.main import main

main()
